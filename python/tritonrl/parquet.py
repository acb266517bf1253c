"""Rows of a Parquet file as JSON lines on standard output: python3 parquet.py FILE.

`tritonrl prepare` runs this for inputs in Parquet form. It needs pyarrow and reads one batch of
rows at a time.
"""

import json
import sys


def main(path):
    try:
        import pyarrow.parquet
    except ImportError:
        sys.stderr.write("install pyarrow (python3 -m pip install pyarrow), or make JSON lines of the file: "
                         "pandas.read_parquet(...).to_json('rows.jsonl', orient='records', lines=True)\n")
        return 1
    try:
        for batch in pyarrow.parquet.ParquetFile(path).iter_batches(batch_size=256):
            for row in batch.to_pylist():
                sys.stdout.write(json.dumps(row, default=str) + "\n")
    except (OSError, ValueError) as why:    # pyarrow's errors are of these kinds
        sys.stderr.write(f"pyarrow cannot read it: {str(why).splitlines()[0]}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
