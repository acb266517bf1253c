import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    """
    Model that performs a series of operations:
    1. 3D convolution
    2. clamping from above
    3. broadcast weights features channel norm
    4. scale along init
    5. clamping from above
    6. PReLU activation
    7. soft shrinkage
    8. HardTanh activation
    9. PReLU activation
    """
    def __init__(self, in_channels_value, out_channels, kernel_size_dim, cnstnt_vl, outChannels2, lorpel, strd, stoforbe, slope_shape_a, kelba):
        super(Model, self).__init__()
        self.conv = nn.Conv3d(in_channels_value, out_channels, (kernel_size_dim, kernel_size_dim, kernel_size_dim), bias=False)
        self.constant_value = cnstnt_vl
        self.deconv = nn.ConvTranspose3d(out_channels, outChannels2, lorpel, stride=strd, padding=stoforbe)
        self.slope = nn.Parameter(torch.randn(slope_shape_a))
        self.instance_norm = nn.InstanceNorm3d(outChannels2)
        self.slope2 = nn.Parameter(torch.randn(kelba))

    def forward(self, x):
        out = self.conv(x)
        out = out.clamp(max=self.constant_value)
        out = out * F.gelu(out)
        out = self.deconv(out)
        out = out.clamp(max=1)
        out = torch.where(out > 0, out, out * self.slope)
        out = self.instance_norm(out)
        out = torch.nn.functional.hardtanh(out, -1.0, 1.0)
        out = torch.where(out > 0, out, out * self.slope2)
        return out

batch_size = 1
in_channels = 128
depth = 8
height = 8
width = 8
out_channels = 256
kernel_size = 3
constant_value = 0.75
out_channels2 = 16
stride = (3, 1, 3)
padding = (2, 1, 0)
slope_shape = (out_channels2, 1, 1, 1)
slope2_shape = (out_channels2, 1, 1, 1)

def get_inputs():
    x = torch.rand(batch_size, in_channels, depth, height, width)
    return [x]

def get_init_inputs():
    return [in_channels, out_channels, kernel_size, constant_value, out_channels2, (5, 2, 1), stride, padding, slope_shape, slope2_shape]
