! Nieto et al., sections 4.1 and 4.2: the loop DO 100 of swim, with constants of double precision (.5D0), or of single precision (CONSTANTS_E)
module fields
  implicit none
#ifdef CONSTANTS_E
#define HALF .5E0
#define QUARTER .25E0
#else
#define HALF .5D0
#define QUARTER .25D0
#endif
  integer, parameter :: n = 64, m = 64
  real(8) :: u(m+1,n+1), v(m+1,n+1), p(m+1,n+1), cu(m+1,n+1), cv(m+1,n+1), z(m+1,n+1), h(m+1,n+1)
  real(8) :: fsdx = 4.0_8, fsdy = 4.0_8
contains
  subroutine calc1()
    integer :: i, j
    do j = 1, n
      do i = 1, m
        cu(i+1,j) = HALF * (p(i+1,j) + p(i,j)) * u(i+1,j)
        cv(i,j+1) = HALF * (p(i,j+1) + p(i,j)) * v(i,j+1)
        z(i+1,j+1) = (fsdx * (v(i+1,j+1) - v(i,j+1)) - fsdy * (u(i+1,j+1) - u(i+1,j))) / (p(i,j) + p(i+1,j) + p(i+1,j+1) + p(i,j+1))
        h(i,j) = p(i,j) + QUARTER * (u(i+1,j) * u(i+1,j) + u(i,j) * u(i,j) + v(i,j+1) * v(i,j+1) + v(i,j) * v(i,j))
      end do
    end do
  end subroutine
end module

program swim
  use fields
  integer :: i, j
  do j = 1, n + 1
    do i = 1, m + 1
      u(i,j) = i; v(i,j) = j; p(i,j) = i + j
    end do
  end do
  call calc1()
  print '(F14.6)', h(3,3)
end program
