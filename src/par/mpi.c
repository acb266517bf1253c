/* Finding and loading MPI: see mpi.h.
 *
 * Owns what differs between the families of MPI libraries: environment variables, library names and
 * handles. */
#include "par/mpi.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The two families of MPI libraries. Others (Intel, Cray) follow MPICH. */
enum family { OPEN_MPI, MPICH, FAMILIES };

/* Variables of launchers. With `counts` the value is the number of processes, and 1 means a single process.
 * Otherwise the value is the process's own number, and its presence is enough. */
static const struct {
	const char *name;
	enum family family;
	int counts;
} launchers[] = {
	{ "OMPI_COMM_WORLD_SIZE", OPEN_MPI, 1 },
	{ "PMIX_RANK", OPEN_MPI, 0 },
	{ "PMI_SIZE", MPICH, 1 },
	{ "PMI_RANK", MPICH, 0 },
};

static const char *const sonames[FAMILIES][3] = {
	[OPEN_MPI] = { "libmpi.so.40", "libmpi.so.80" },
	[MPICH] = { "libmpich.so.12", "libmpi.so.12" },
};

/* The index in `launchers` of the variable that is set, or -1 for a single process. */
static int launcher(void)
{
	for (size_t i = 0; i < COUNT_OF(launchers); i++) {
		const char *v = getenv(launchers[i].name);

		if (v)
			return launchers[i].counts && !strcmp(v, "1") ? -1 : (int)i;
	}
	return -1;
}

int mpi_launched(void)
{
	return launcher() >= 0;
}

int mpi_local_rank(void)
{
	static const char *const names[] = { "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID" };

	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (getenv(names[i]))
			return atoi(getenv(names[i]));
	return 0;
}

/* Loads a family's library. RTLD_GLOBAL: plug-ins of Open MPI look for its symbols in the program. */
static void *open_family(enum family f)
{
	void *lib = NULL;

	for (size_t i = 0; i < COUNT_OF(sonames[f]) && sonames[f][i] && !lib; i++)
		lib = dlopen(sonames[f][i], RTLD_NOW | RTLD_GLOBAL);
	return lib;
}

/* A handle of MPICH. */
static void *number(uintptr_t n)
{
	return (void *)n;
}

/* Sets the handles as each family's mpi.h defines them. */
static void set_handles(struct mpi *m, void *lib, enum family f)
{
	if (f == OPEN_MPI) {
		m->family = "Open MPI";
		m->world = dlsym(lib, "ompi_mpi_comm_world");
		m->byte = dlsym(lib, "ompi_mpi_byte");
		m->errors_return = dlsym(lib, "ompi_mpi_errors_return");
		m->no_status = NULL;
		m->any_source = -1;
	} else {
		m->family = "MPICH";
		m->world = number(0x44000000);
		m->byte = number(0x4c00010d);
		m->errors_return = number(0x54000001);
		m->no_status = number(1);
		m->any_source = -2;
	}
}

/* Finds all functions; -1 if one is missing. */
static int find_calls(struct mpi *m, void *lib)
{
	const struct { const char *name; void *to; } calls[] = {
#define F(name, parameters) { "MPI_" #name, &m->name },
		MPI_CALLS(F)
#undef F
	};

	for (size_t i = 0; i < COUNT_OF(calls); i++) {
		void *p = dlsym(lib, calls[i].name);

		if (!p)
			return -1;
		memcpy(calls[i].to, &p, sizeof p);
	}
	return 0;
}

/* The launcher's family comes first: a process that Open MPI started cannot join its ranks by
 * MPICH. */
int mpi_load(struct mpi *m, struct err *e)
{
	int at = launcher();
	enum family first = at < 0 ? OPEN_MPI : launchers[at].family;

	for (int i = 0; i < FAMILIES; i++) {
		enum family f = (enum family)((first + i) % FAMILIES);
		void *lib = open_family(f);

		if (!lib)
			continue;
		*m = (struct mpi){ .family = NULL };
		set_handles(m, lib, f);
		if (!m->world || !m->byte || find_calls(m, lib))
			return err_set(e, ERR_UNSUPPORTED,
				       "the installed library of %s lacks functions that are needed", m->family);
		return 0;
	}
	return err_set(e, ERR_NOT_FOUND,
		       "this process was started as one of several (%s is set), but neither libmpi of Open "
		       "MPI nor of MPICH can be loaded: install it, or add its folder to LD_LIBRARY_PATH",
		       at < 0 ? "nothing" : launchers[at].name);
}
