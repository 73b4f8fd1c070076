/* Start and end of libc, nothing else. */
int main(void) { return 0; }
