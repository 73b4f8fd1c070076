! The Fortran module: what differs from tare.h (names trimmed, indices from 1, `error`), and that each call
! arrives. TAP.
!     fortran_test          the facts
!     fortran_test die      a failure without `error`: must end the program (fortran_die_test)
module handlers
  use tare
  use, intrinsic :: iso_c_binding
  implicit none
  integer(c_int64_t), volatile :: calls = 0, period_seen = 0
contains
  subroutine on_overflow(overflow, data) bind(c)
    type(tare_overflow_at), intent(in) :: overflow
    type(c_ptr), value :: data
    if (.not. c_associated(data)) return
    calls = calls + 1
    period_seen = overflow%period
  end subroutine
end module

program fortran_test
  use tare
  use handlers
  use, intrinsic :: iso_fortran_env, only: int64, output_unit, real64
  implicit none
  integer, parameter :: page = 4096, pages = 400
  character(len=1), save, volatile :: fresh(page*pages)
  integer :: number = 0, bad = 0, next_page = 1
  character(len=10) :: what
  what = ''
  if (command_argument_count() > 0) call get_command_argument(1, what)
  if (what == 'die') then
    call tare_regions_start('no-such-event')
    print '(a)', 'still here'
    stop
  end if
  call test_sets
  call test_errors
  call test_overflow
  call test_before
  call test_regions
  print '(a, i0)', '1..', number
  flush (output_unit)
  if (bad > 0) error stop 1
contains
  subroutine ok(good, fact)
    logical, intent(in) :: good
    character(len=*), intent(in) :: fact
    number = number + 1
    if (.not. good) bad = bad + 1
    print '(a, i0, 2a)', trim(merge('ok    ', 'not ok', good))//' ', number, ' - ', fact
  end subroutine

  ! n pages that nobody has written yet
  subroutine touch(n)
    integer, intent(in) :: n
    integer :: i
    do i = 1, n
      fresh((next_page - 1)*page + 1) = 'x'
      next_page = next_page + 1
    end do
  end subroutine

  pure function about(count, expected) result(right)
    integer(int64), intent(in) :: count
    integer, intent(in) :: expected
    logical :: right
    ! the first page is shared with other statics; of the stack or of code there may be a few
    right = count >= expected - 1 .and. count <= expected + 10
  end function

  subroutine test_overflow
    type(tare_counters) :: set
    type(tare_error) :: error
    integer, target :: passed = 1
    call tare_open(set)
    call tare_add(set, 'page-faults:u')
    call tare_overflow(set, 2, 10_int64, on_overflow, c_loc(passed), error)
    call ok(error%code == tare_error_usage, 'a handler of an event that is not there is an error: '//trim(error%text))
    call tare_overflow(set, 1, 0_int64, on_overflow, c_loc(passed), error)
    call ok(error%code == tare_error_usage, 'so is no period: '//trim(error%text))
    call tare_overflow(set, 1, 10_int64, on_overflow, c_loc(passed), error)
    call ok(error%code == tare_error_none, 'a handler of overflows is set')
    call tare_start(set)
    call touch(50)
    call tare_stop(set)
    call ok(calls >= 4 .and. calls <= 7 .and. period_seen == 10, 'and called each tenth page fault')
    call tare_no_overflow(set, 1)
    calls = 0
    call tare_start(set)
    call touch(20)
    call tare_close(set)
    call ok(calls == 0, 'until it is taken back')
  end subroutine

  subroutine test_sets
    type(tare_counters) :: set
    type(tare_reading) :: before(3), after(3), spent(3)
    type(tare_error) :: error
    real(real64) :: value
    logical :: known
    call ok(index(tare_version(), '.') > 1, 'the version has a text')
    call tare_open(set, scope=tare_thread, error=error)
    call ok(error%code == tare_error_none, 'a set is opened')
    call tare_add(set, 'page-faults:u,minor-faults:u   ', error)
    call ok(error%code == tare_error_none, 'blanks behind a list of events are none of it')
    call ok(tare_event_count(set) == 2, '... and it has two events')
    call tare_add(set, 'task-clock')
    call ok(tare_event_name(set, 1) == 'page-faults:u', 'events are counted from 1')
    call ok(tare_event_name(set, 3) == 'task-clock', '... to the last one added')
    call ok(len(tare_event_name(set, 1)) == 13, 'texts have no blanks behind them')
    call ok(tare_event_name(set, 0)//tare_event_name(set, 4) == '', 'no event, no name')
    call ok(tare_event_unit(set, 3)//' '//tare_event_source(set, 3) == 'ns os', 'units and sources are texts')
    call tare_start(set)
    call tare_read(set, before)
    call touch(20)
    call tare_read(set, after)
    call tare_difference(before, after, spent)
    call ok(about(spent(1)%count, 20) .and. spent(1)%state == tare_counted, '20 pages are 20 faults')
    call ok(spent(3)%count > 0 .and. spent(3)%enabled_ns == spent(3)%running_ns, 'time has passed, all of it counted')
    call tare_scaled(spent(1), value, known)
    call ok(known .and. nint(value, int64) == spent(1)%count, 'what counted all the time scales to itself')
    spent(1)%state = tare_not_counted
    call tare_scaled(spent(1), value, known)
    call ok(.not. known, 'what was not counted has no value')
    call tare_reset(set)
    call tare_stop(set, after)
    call ok(after(1)%count <= 2, 'after a reset readings begin at 0')
    call tare_stop(set)
    call tare_read(set, before)
    call touch(20)
    call tare_read(set, after)
    call ok(after(1)%count == before(1)%count, 'what is stopped does not count')
    call tare_close(set)
    call tare_close(set)
    call ok(tare_event_count(set) == 0, 'a set may be closed twice')
    call tare_open(set, tare_process)
    call tare_add(set, 'page-faults:u')
    call tare_start(set)
    call touch(20)
    call tare_stop(set, after)
    call ok(about(after(1)%count, 20), 'a set of the process counts its threads')
    call tare_close(set)
  end subroutine

  subroutine test_errors
    type(tare_counters) :: set, never
    type(tare_reading) :: few(1)
    type(tare_error) :: error
    call tare_open(set)
    call tare_add(set, 'no-such-event', error)
    call ok(error%code == tare_error_usage .and. error%text == 'unknown event ''no-such-event''', &
      'an unknown event has an error''s text')
    call tare_add(set, 'page-faults:u,task-clock', error)
    call ok(error%code == tare_error_none .and. error%text == '', 'an error is gone with the next call')
    call tare_start(set)
    call tare_read(set, few, error)
    call ok(error%code == tare_error_usage, 'an array too short for the events is refused')
    call tare_stop(set, few, error)
    call ok(error%code == tare_error_usage, '... by stop, too')
    call tare_close(set)
    call tare_open(set, scope=7, error=error)
    call ok(error%code == tare_error_usage, 'an unknown scope is refused')
    call tare_start(never, error)
    call ok(error%code == tare_error_usage .and. error%text == 'the counters are not open', &
      'a set that was never opened is refused')
    call tare_read(never, few, error)
    call ok(error%code == tare_error_usage, '... by read, too')
  end subroutine

  subroutine test_before
    type(tare_error) :: error
    type(tare_region) :: region
    call tare_region_begin('early')
    call tare_region_end('early')
    call tare_region_read('early', error=error)
    call ok(error%code == tare_error_usage, 'regions that are not counted have no reading')
    region = tare_region('   ', error)
    call ok(error%code == tare_error_usage, 'a name of blanks is none')
    call tare_region_begin(region)
    call tare_region_end(region)
    call tare_regions_start('no-such-event', error)
    call ok(error%code == tare_error_usage, 'regions do not start with an unknown event')
  end subroutine

  subroutine test_regions
    type(tare_region) :: region
    type(tare_region_passes) :: passes
    type(tare_reading) :: readings(2)
    type(tare_error) :: error
    character(len=10000) :: long
    integer :: i
    call tare_regions_start('page-faults:u,task-clock  ')
    region = tare_region('work  ')
    call tare_region_begin('warm')
    call tare_region_end('warm')
    do i = 1, 2
      call tare_region_begin(region)
      call touch(20)
      call tare_region_end(region)
    end do
    call tare_region_begin('work   ')
    call touch(20)
    call tare_region_end('work')
    call tare_region_read(region, tare_thread, passes, readings, error)
    call ok(error%code == tare_error_none .and. passes%entries == 3 .and. passes%exits == 3, &
      'by handle and by name it is one region, blanks behind the name or not')
    call ok(about(readings(1)%count, 60) .and. readings(1)%state == tare_counted, 'its faults are those of three passes')
    call ok(readings(2)%count > 0, 'its time is the second event''s')
    call tare_region_read('work', tare_process, passes)
    call ok(passes%threads == 1 .and. passes%unbalanced == 0, 'it is read by name, too')
    long = repeat('long ', 2000)
    long(10000:) = '!'
    call tare_region_begin(long)
    call tare_region_end(long)
    call tare_region_read(long, passes=passes)
    call ok(passes%exits == 1, 'a name of 10000 bytes is one')
    long(1:1) = 'L'
    call tare_region_read(long, passes=passes)
    call ok(passes%entries == 0, '... and not another one''s')
    call tare_region_begin('caf'//char(233))
    call tare_region_read('caf'//char(233), passes=passes)
    call ok(passes%entries == 1 .and. passes%exits == 0, 'a region that was not left says so')
    call tare_regions_start('task-clock', error)
    call ok(error%code == tare_error_usage, 'regions are started once')
  end subroutine
end program
