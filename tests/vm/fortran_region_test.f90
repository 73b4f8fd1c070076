! Regions of a Fortran program on hardware counters: by handle and by name, nested 3 deep and in many passes they hold the
! instructions of what is inside, to the last one, when an empty region's own are taken off; and libperfex's calls. TAP.
! In the guest counting is exact; on other machines an interrupt adds a little. Read by read(2): a user read that the
! kernel interrupts is done once more, which is in the count (user_read_test).
program fortran_region_test
  use tare
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int64_t, c_null_char
  use, intrinsic :: iso_fortran_env, only: int64, output_unit
  implicit none
  interface
    ! exactly 2 * turns instructions, and the same number beside them at each call
    subroutine loop(turns) bind(c, name='tare_test_loop')
      import :: c_int64_t
      integer(c_int64_t), value :: turns
    end subroutine
    function setenv(name, text, replace) bind(c) result(status)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: name(*), text(*)
      integer(c_int), value :: replace
      integer(c_int) :: status
    end function
  end interface
  integer(int64), parameter :: turns = 100000_int64, one = 1_int64
  integer, external :: start_counters, read_counters
  integer :: number = 0, bad = 0
  logical :: exact_here
  type(tare_error) :: error
  character(len=10) :: value
  integer :: status
  call get_environment_variable('TARE_IN_GUEST', value, status=status)
  exact_here = status == 0
  status = setenv('TARE_USER_READ'//c_null_char, '0'//c_null_char, 1_c_int)
  call tare_regions_start('instructions:u', error)
  if (error%code /= tare_error_none .and. .not. exact_here) then
    print '(3a)', 'ok 1 - instructions are counted # SKIP ', trim(error%text), ''
    print '(a)', '1..1'
    stop
  end if
  call ok(error%code == tare_error_none, 'instructions are counted')
  if (error%code == tare_error_none) then
    call test_handles
    call test_names
    call test_nested
    call test_passes
    call test_perfex
  end if
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

  subroutine is_count(count, truth, fact)
    integer(int64), intent(in) :: count, truth
    character(len=*), intent(in) :: fact
    logical :: right
    right = count == truth
    if (.not. exact_here) right = count >= truth .and. count <= truth + truth/1000 + 100
    if (.not. right) print '(a, i0, a, i0)', '# is ', count, ', expected ', truth
    call ok(right, fact)
  end subroutine

  function counted(name) result(count)
    character(len=*), intent(in) :: name
    integer(int64) :: count
    type(tare_reading) :: reading(1)
    count = -1
    call tare_region_read(name, readings=reading)
    if (reading(1)%state == tare_counted) count = reading(1)%count
  end function

  ! The count of a warm pass: the first of a region makes memory for it.
  function of_pass(region, name, n) result(count)
    type(tare_region), intent(in) :: region
    character(len=*), intent(in) :: name
    integer(int64), intent(in) :: n
    integer(int64) :: count, before
    integer :: i
    do i = 1, 2
      before = counted(name)
      call tare_region_begin(region)
      call loop(n)
      call tare_region_end(region)
    end do
    count = counted(name) - before
  end function

  subroutine test_handles
    type(tare_region) :: small, large
    integer(int64) :: empty
    small = tare_region('small')
    large = tare_region('large')
    empty = of_pass(small, 'small', one)
    print '(a, i0, a)', '# a region around one turn: ', empty, ' instructions'
    call is_count(of_pass(large, 'large', turns) - empty, 2*(turns - 1), 'by handle: the instructions of the loop')
    call is_count(of_pass(large, 'large', 2*turns) - empty, 2*(2*turns - 1), '... and of twice as many turns')
  end subroutine

  subroutine test_names
    integer(int64) :: counts(2), before
    integer :: i, k
    do k = 1, 2
      do i = 1, 2
        before = counted('named')
        call tare_region_begin('named')
        call loop(merge(one, turns, k == 1))
        call tare_region_end('named')
      end do
      counts(k) = counted('named') - before
    end do
    call is_count(counts(2) - counts(1), 2*(turns - 1), 'by name: the instructions of the loop')
  end subroutine

  subroutine test_nested
    character(len=1), parameter :: names(3) = ['x', 'y', 'z']
    type(tare_region) :: regions(3)
    integer(int64) :: counts(3, 2)
    integer :: i, k, level
    do level = 1, 3
      regions(level) = tare_region(names(level))
    end do
    do k = 1, 2
      do i = 1, 2
        do level = 1, 3
          counts(level, k) = counted(names(level))
        end do
        call nest(regions, merge(one, turns, k == 1))
      end do
      do level = 1, 3
        counts(level, k) = counted(names(level)) - counts(level, k)
      end do
    end do
    call is_count(counts(3, 2) - counts(3, 1), 2*(turns - 1), 'nested 3 deep: the innermost has its loop')
    call is_count(counts(2, 2) - counts(2, 1), 3*2*(turns - 1), '... the middle one its two and the innermost one''s')
    call is_count(counts(1, 2) - counts(1, 1), 5*2*(turns - 1), '... the outer one all five')
  end subroutine

  subroutine nest(regions, n)
    type(tare_region), intent(in) :: regions(3)
    integer(int64), intent(in) :: n
    call tare_region_begin(regions(1))
    call loop(n)
    call tare_region_begin(regions(2))
    call loop(n)
    call tare_region_begin(regions(3))
    call loop(n)
    call tare_region_end(regions(3))
    call loop(n)
    call tare_region_end(regions(2))
    call loop(n)
    call tare_region_end(regions(1))
  end subroutine

  subroutine test_passes
    integer, parameter :: passes = 10000
    integer(int64) :: counts(2)
    counts(1) = of_passes(passes, one)
    counts(2) = of_passes(passes, 3*one)
    call is_count(counts(2) - counts(1), passes*4_int64, '10000 passes: each has its loop''s, nothing is lost or added')
  end subroutine

  function of_passes(passes, n) result(count)
    integer, intent(in) :: passes
    integer(int64), intent(in) :: n
    integer(int64) :: count
    type(tare_region) :: region
    integer :: i
    region = tare_region('many')
    call tare_region_begin(region)
    call tare_region_end(region)
    count = counted('many')
    do i = 1, passes
      call tare_region_begin(region)
      call loop(n)
      call tare_region_end(region)
    end do
    count = counted('many') - count
  end function

  subroutine test_perfex
    integer, parameter :: cycles = 0, instructions = 17
    integer(int64) :: c0(2), c1(2)
    integer :: i, k, started
    do k = 1, 2
      do i = 1, 2
        started = start_counters(cycles, instructions)
        call loop(merge(one, turns, k == 1))
        if (read_counters(cycles, c0(k), instructions, c1(k)) /= started .or. started <= 0) c1(k) = -1
      end do
    end do
    call is_count(c1(2) - c1(1), 2*(turns - 1), 'start_counters and read_counters: the loop''s graduated instructions')
    call ok(c1(1) > 0 .and. c0(2) > c0(1) .and. c0(1) > 0, '... and its cycles')
  end subroutine
end program
