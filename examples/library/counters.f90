! A set of counters in Fortran: the difference of two readings.  ./counters [EVENTS]
program counters_of_thread
  use tare
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
  implicit none
  integer, parameter :: page = 4096, pages = 100
  character(len=1), save, volatile :: fresh(page*pages)
  type(tare_counters) :: counters
  type(tare_reading), dimension(tare_events_most) :: before, after, spent
  type(tare_error) :: error
  character(len=1000) :: events
  real(real64) :: value
  logical :: known
  integer :: i
  events = 'page-faults:u,task-clock'
  if (command_argument_count() > 0) call get_command_argument(1, events)
  call tare_open(counters)
  call tare_add(counters, events, error)
  if (error%code /= tare_error_none) then
    write (error_unit, '(a)') trim(error%text), trim(error%hint)
    error stop 1
  end if
  call tare_start(counters)
  call tare_read(counters, before)
  do i = 1, size(fresh), page
    fresh(i) = 'x'
  end do
  call tare_read(counters, after)
  call tare_difference(before, after, spent)
  do i = 1, tare_event_count(counters)
    call tare_scaled(spent(i), value, known)
    if (known) then
      print '(a, 1x, i0, 1x, a)', tare_event_name(counters, i), nint(value), tare_event_unit(counters, i)
    else
      print '(a, a)', tare_event_name(counters, i), ' not counted'
    end if
  end do
  call tare_close(counters)
end program
