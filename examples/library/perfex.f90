! libperfex's calls in Fortran: cycles (0) and graduated instructions (17), or what T5_EVENT0 and T5_EVENT1 say.
!     T5_EVENT0=page-faults:u T5_EVENT1=task-clock ./perfex
program perfex
  implicit none
  integer, parameter :: page = 4096, pages = 100, cycles = 0, instructions = 17
  integer, parameter :: i4 = selected_int_kind(9), i8 = selected_int_kind(18)
  integer(i4), external :: start_counters, read_counters, print_counters
  external :: tare_perfex_message
  character(len=1), save, volatile :: fresh(page*pages)
  character(len=200) :: why
  integer(i8) :: c0, c1
  integer(i4) :: started
  integer :: i
  started = start_counters(cycles, instructions)
  if (started < 0) then
    call tare_perfex_message(why)
    print '(2a)', 'start_counters: ', trim(why)
    error stop 1
  end if
  do i = 1, size(fresh), page
    fresh(i) = 'x'
  end do
  if (read_counters(cycles, c0, instructions, c1) /= started) then
    call tare_perfex_message(why)
    print '(2a)', 'read_counters: ', trim(why)
    error stop 1
  end if
  if (print_counters(cycles, c0, instructions, c1) < 0) error stop 1
end program
