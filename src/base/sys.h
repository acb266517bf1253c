/* The one table of allocation and file system calls.
 *
 * Everything in this program that allocates or touches the file system goes through here,
 * so that a test can make the k-th call fail (test/torture). Production code never changes
 * the table; sys_replace is for the test harness and for the sandbox. */
#ifndef BASE_SYS_H
#define BASE_SYS_H

#include <dirent.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

struct sys_table {
	void *(*alloc)(size_t n);
	void *(*resize)(void *p, size_t n);
	void (*release)(void *p);
	int (*open)(const char *path, int flags, mode_t mode);
	int (*close)(int fd);
	ssize_t (*read)(int fd, void *p, size_t n);
	ssize_t (*write)(int fd, const void *p, size_t n);
	int (*fsync)(int fd);
	int (*fstat)(int fd, struct stat *st);
	int (*stat)(const char *path, struct stat *st);
	int (*lstat)(const char *path, struct stat *st);
	DIR *(*opendir)(const char *path);
	struct dirent *(*readdir)(DIR *d);   /* NULL with errno 0: the end */
	int (*closedir)(DIR *d);
	int (*rename)(const char *from, const char *to);
	int (*unlink)(const char *path);
	int (*mkdir)(const char *path, mode_t mode);
	int (*rmdir)(const char *path);
	int (*ftruncate)(int fd, off_t n);
	void *(*mmap)(void *at, size_t n, int prot, int flags, int fd, off_t off);
	int (*munmap)(void *p, size_t n);
};

extern struct sys_table sys;

/* The table of real calls; `sys` starts as a copy of it. */
const struct sys_table *sys_real(void);

#endif
