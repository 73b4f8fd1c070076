/*
 * An MPI program whose ranks have unlike amounts of work: rank r adds up (r + 1) × 100,000 numbers. Counted with tare, the region
 * "solve" shows it: max/mean is 1.60 on four ranks, where 1.00 is balance.
 *
 *     mpicc -g -O1 -o uneven uneven.c
 *     mpirun -n 4 tare count -e instructions:u --region solve ./uneven
 *
 * The loop has 6 instructions each time; with what surrounds it, solve() has 600,000 × (r + 1) and a few, as compiled by GCC 12.
 */
#include <mpi.h>
#include <stdio.h>

__attribute__((noinline)) long solve(int rank)
{
	volatile long sum = 0;
	for (long i = 0; i < 100000L * (rank + 1); i++)
		sum += i;
	return sum;
}

int main(int argc, char **argv)
{
	int rank, size;
	long part, all = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	part = solve(rank);
	MPI_Reduce(&part, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d ranks: %ld\n", size, all);
	MPI_Finalize();
	return 0;
}
