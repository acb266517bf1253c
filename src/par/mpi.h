/* The few functions of MPI that ranks need, from the library that is there.
 *
 * The two families of libraries agree on the functions and not on what a handle is: Open MPI has
 * addresses of its own objects, MPICH has numbers. Both fit a pointer and are passed alike, so one
 * table of functions serves both and three handles are filled by family. No status is ever read:
 * its form differs, too. */
#ifndef PAR_MPI_H
#define PAR_MPI_H

#include "base/err.h"

/* MPI_NAME and its parameters. Handles and addresses of handles are pointers. */
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

/* 1: this process was started as one of several, as the launcher's environment says. */
int mpi_launched(void);
/* The library of the launcher's family, or the other. It stays loaded. */
int mpi_load(struct mpi *m, struct err *e);
/* From the launcher's environment; 0 where it does not say. */
int mpi_local_rank(void);

#endif
