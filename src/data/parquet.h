/* Parquet files, through Python: a child process runs python/tritonrl/parquet.py, which needs
 * pyarrow, and writes the rows as JSON lines to a temporary file. Files of another form are left to
 * the caller. */
#ifndef DATA_PARQUET_H
#define DATA_PARQUET_H

#include "base/err.h"

struct parquet {
	char *path;                /* the JSON lines; NULL: the input is not Parquet */
};

/* Converts `input` to a file in the folder `dir` if it is Parquet. The error names what is missing. */
int parquet_open(struct parquet *p, const char *input, const char *dir, struct err *e);
/* Removes the temporary file. */
void parquet_close(struct parquet *p);

#endif
