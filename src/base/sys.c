/* The table of allocation and file system calls: see sys.h. The program calls through `sys`; tests
 * replace entries to make the k-th call fail. */
#include "base/sys.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* O_CLOEXEC always: a descriptor must never leak into a program that we start. */
static int real_open(const char *path, int flags, mode_t mode)
{
	return open(path, flags | O_CLOEXEC, mode);
}

#define SYS_REAL {                                                                       \
	.alloc = malloc, .resize = realloc, .release = free, .open = real_open,          \
	.close = close, .read = read, .write = write, .fsync = fsync, .fstat = fstat,    \
	.stat = stat, .lstat = lstat, .opendir = opendir, .readdir = readdir,            \
	.closedir = closedir, .rename = rename, .unlink = unlink, .mkdir = mkdir,                \
	.rmdir = rmdir, .ftruncate = ftruncate, .mmap = mmap, .munmap = munmap,          \
}

static const struct sys_table real = SYS_REAL;
struct sys_table sys = SYS_REAL;

const struct sys_table *sys_real(void)
{
	return &real;
}
