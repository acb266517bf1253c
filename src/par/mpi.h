/* The few MPI functions that ranks need, from the installed library.
 *
 * Open MPI and MPICH agree on the functions, but not on handles: Open MPI uses addresses of its
 * objects, MPICH uses numbers. Both fit a pointer and are passed in the same way. So one table of
 * functions serves both, and the handles are filled for the library that was found. No status is
 * ever read, because its form differs as well. */
#ifndef PAR_MPI_H
#define PAR_MPI_H

#include "base/err.h"

/* Each function MPI_NAME with its parameters. Handles are declared as pointers. */
#define MPI_CALLS(F) \
	F(Init_thread, (int *argc, char ***argv, int wanted, int *got)) \
	F(Comm_rank, (void *comm, int *rank)) \
	F(Comm_size, (void *comm, int *size)) \
	F(Comm_set_errhandler, (void *comm, void *handler)) \
	F(Isend, (const void *p, int n, void *type, int to, int tag, void *comm, void **request)) \
	F(Irecv, (void *p, int n, void *type, int from, int tag, void *comm, void **request)) \
	F(Test, (void **request, int *done, void *status)) \
	F(Iprobe, (int from, int tag, void *comm, int *found, void *status)) \
	F(Finalize, (void))

struct mpi {
	const char *family;           /* "Open MPI", "MPICH" */
	void *world, *byte, *errors_return;
	void *no_status;
	int any_source;
#define F(name, parameters) int (*name) parameters;
	MPI_CALLS(F)
#undef F
};

/* Returns 1 if the environment says that a launcher started this process as one of several. */
int mpi_launched(void);
/* Loads the library of the launcher's family, or else the other one. It stays loaded. */
int mpi_load(struct mpi *m, struct err *e);
/* The process's number on its machine, from the environment; 0 if that does not tell. */
int mpi_local_rank(void);

#endif
