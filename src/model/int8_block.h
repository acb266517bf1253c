/* Weights in 8 bits, in blocks: neighbouring columns of a row share a scale. A model folder of about half the
 * size of its bf16 form. The values of the model are those of the unpacked bf16 weights, bit for bit.
 *
 * A matrix NAME [rows, cols] in a file is NAME in int8 and NAME_scale in bf16 [rows, blocks of a row]. The
 * value is bf16(q * scale). config.json says so:
 *     "quantization_config": {"quant_method": "int8_block", "bits": 8, "block": 64} */
#ifndef MODEL_INT8_BLOCK_H
#define MODEL_INT8_BLOCK_H

#include <stdint.h>

#define INT8_BLOCK_METHOD "int8_block"
#define INT8_BLOCK_SCALE "_scale"         /* behind the name of the weights */
enum { INT8_BLOCK = 64 };                 /* columns of a block, where this program writes */

/* The number of scales of a row. */
static inline int int8_block_scales(int cols, int block) { return (cols + block - 1) / block; }
/* Returns -1 if a weight is not finite. */
int int8_block_pack(const float *w, int cols, int block, int8_t *q, uint16_t *scale);
void int8_block_unpack(const int8_t *q, const uint16_t *scale, int cols, int block, uint16_t *w);

#endif
