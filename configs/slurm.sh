#!/bin/bash
#SBATCH --job-name=tritonrl
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=16
#SBATCH --gpus-per-task=1
#SBATCH --time=24:00:00
#SBATCH --signal=TERM@120
#SBATCH --requeue
#SBATCH --open-mode=append
# sbatch configs/slurm.sh CONFIG RUN: a whole run on a cluster (doc/cluster.md). Models, data and RUN are on a file
# system that all nodes share. Two minutes before its time limit the run saves its state and ends; it is requeued until it
# is finished.
set -u
config=$1 run=$2
# One GPU per task: each task sees its own as number 0. Without GPUs: --device cpu, and no --gpus-per-task above.
srun --mpi=pmix --kill-on-bad-exit=1 --cpu-bind=cores tritonrl run "$config" --out "$run" --device cuda:0
rc=$?
# 3: the machine is taken back (spot notice), 130: stopped; both saved. 137 and 143: killed, and saved up to the last
# checkpoint. 4 (budget spent) and errors are not requeued.
case $rc in
3 | 130 | 137 | 143) scontrol requeue "$SLURM_JOB_ID" ;;
esac
exit $rc
