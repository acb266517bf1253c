"""Random draws that must match PyTorch's CPU generator; one program each, seeded by its number."""
CASES = []
for n in (1, 2, 7, 15, 16, 17, 31, 32, 33, 100, 623, 624, 625, 1000, 5003):
    for dt in ("float32", "float64", "float16", "bfloat16"):
        CASES.append(f"torch.rand({n}, dtype=torch.{dt})")
        CASES.append(f"torch.randn({n}, dtype=torch.{dt})")
    CASES.append(f"(torch.randn({n}), torch.rand(3), torch.randn(5), torch.randn(20), torch.rand(2))")
    CASES.append(f"torch.randint(0, 10, ({n},))")
    CASES.append(f"torch.randint(-5, 2**40, ({n},))")
    CASES.append(f"torch.randint(3, ({n},), dtype=torch.int32)")
    CASES.append(f"torch.randperm({n})")
    CASES.append(f"torch.empty({n}).uniform_(-0.3, 0.7)")
    CASES.append(f"torch.empty({n}).normal_(1.5, 0.2)")
    for dt in ("float32", "float64", "float16", "bfloat16"):
        CASES.append(f"torch.empty({n}, dtype=torch.{dt}).uniform_(-0.13, 0.41)")
        CASES.append(f"torch.empty({n}, dtype=torch.{dt}).normal_(-0.13, 0.41)")
    CASES.append(f"torch.bernoulli(torch.rand({n}))")
    CASES.append(f"torch.empty({n}).bernoulli_(0.3)")
    CASES.append(f"F.dropout(torch.rand({n}) + 1, 0.4)")
CASES += [
    "torch.rand(3, 5, 7)", "F.gumbel_softmax(torch.zeros(40, 5), hard=True).argmax(-1)", "torch.rand_like(torch.zeros(4, 5))", "torch.randn_like(torch.zeros(4, 5))", "torch.randn(4, 8)", "torch.randn(3, 3)",
    "(torch.randn(3), torch.randn(3), torch.randn(4))", "torch.normal(0.5, 2.0, (4, 5))", "F.dropout2d(torch.ones(3, 4, 2, 2), 0.5)",
    "torch.randint_like(torch.zeros(4), 9)", "torch.empty(3, 4).t().uniform_()", "torch.empty(6, 4).t().normal_()", "torch.empty(9, dtype=torch.float64).exponential_()",
    "torch.nn.init.kaiming_uniform_(torch.empty(5, 7), a=math.sqrt(5))", "torch.nn.init.kaiming_uniform_(torch.empty(8, 3, 3, 3))", "torch.nn.init.kaiming_normal_(torch.empty(8, 3, 3, 3), mode='fan_out', nonlinearity='relu')",
    "torch.nn.init.xavier_uniform_(torch.empty(5, 7))", "torch.nn.init.xavier_normal_(torch.empty(9, 7), gain=1.4)", "torch.nn.init.uniform_(torch.empty(30), -0.1, 0.1)", "torch.nn.init.normal_(torch.empty(30), std=0.02)",
    "torch.nn.init.trunc_normal_(torch.empty(40), std=0.02)", "torch.nn.init.orthogonal_(torch.empty(6, 4))", "torch.nn.init.orthogonal_(torch.empty(4, 6))", "torch.nn.init.zeros_(torch.empty(3))", "torch.nn.init.constant_(torch.empty(3), 0.3)", "torch.nn.init.eye_(torch.empty(3, 4))",
    "torch.nn.init._calculate_fan_in_and_fan_out(torch.empty(8, 3, 3, 3))[0] * torch.ones(1)", "torch.nn.init.calculate_gain('leaky_relu', 0.2) * torch.ones(1)",
]
