! The loop DO 100 of SPEC 2000's swim over n x n points (Nieto et al., sections 4.1 and 4.2), with constants of double precision (.5D0), or of
! single precision (CONSTANTS_E). Four kernels are made of it: swim-d0, swim-e0, and with -fdefault-real-8 swim-r8d0 and swim-r8e0. That
! switch, as XLF's -qrealsize=8, makes .5D0 a number of 16 bytes, and .5E0 one of 8.
module swim_fields
  use, intrinsic :: iso_c_binding
  implicit none
#ifdef CONSTANTS_E
#define HALF .5E0
#define QUARTER .25E0
#else
#define HALF .5D0
#define QUARTER .25D0
#endif
  integer, parameter :: most = 513
  real(8) :: u(most,most), v(most,most), p(most,most), cu(most,most), cv(most,most), z(most,most), h(most,most)
  real(8) :: fsdx = 4.0_8, fsdy = 4.0_8
contains
  subroutine kernel_body(n) bind(C, name='kernel_body')
    integer(c_int64_t), value :: n
    integer(c_int64_t) :: i, j
    do j = 1, n
      do i = 1, n
        cu(i+1,j) = HALF * (p(i+1,j) + p(i,j)) * u(i+1,j)
        cv(i,j+1) = HALF * (p(i,j+1) + p(i,j)) * v(i,j+1)
        z(i+1,j+1) = (fsdx * (v(i+1,j+1) - v(i,j+1)) - fsdy * (u(i+1,j+1) - u(i+1,j))) / (p(i,j) + p(i+1,j) + p(i+1,j+1) + p(i,j+1))
        h(i,j) = p(i,j) + QUARTER * (u(i+1,j) * u(i+1,j) + u(i,j) * u(i,j) + v(i,j+1) * v(i,j+1) + v(i,j) * v(i,j))
      end do
    end do
  end subroutine

  subroutine kernel_call(n) bind(C, name='kernel_call')
    integer(c_int64_t), value :: n
    integer :: i, j
    if (n > most - 1) return
    do j = 1, most
      do i = 1, most
        u(i,j) = i; v(i,j) = j; p(i,j) = i + j
      end do
    end do
    call kernel_body(n)
  end subroutine
end module
