/* An empty program in C: what the C library and the dynamic linker execute for it is the overhead of an unmodified executable (Safford 1997,
 * appendix D: Table D.1). */
int main(void) { return 0; }
