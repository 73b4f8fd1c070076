/* Calls and returns, 1000 deep and a tree of them. */
#include <stdio.h>
__attribute__((noinline)) static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) static int deep(int n) { volatile int here = n; return n ? deep(n - 1) + here : 0; }
int main(void) { return fib(15) == 610 && deep(1000) == 500500 ? 0 : 1; }
