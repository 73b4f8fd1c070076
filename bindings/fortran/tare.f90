! tare: performance counters inside a Fortran program. A module over tare.h, whose comments say what every call does,
! its units and its errors; here stands what is different in Fortran. Fortran 2008 with iso_c_binding.
!
!     use tare
!     type(tare_region) :: sort                      call tare_region_begin("sort")
!     sort = tare_region("sort")              or     call sort_all()
!     call tare_region_begin(sort)                   call tare_region_end("sort")
!     call sort_all()
!     call tare_region_end(sort)
!
! and then  TARE_EVENTS=instructions:u,page-faults ./program
!
! What always holds:
! 1. Trailing blanks of names and of lists of events are not part of them.
! 2. Calls that can fail have an optional last argument `error`. With it, error%code is 0 or the reason. Without it a
!    failure writes the reason to standard error and ends the program with ERROR STOP, as ALLOCATE does without STAT:
!    it is never lost. tare_region_begin and tare_region_end never fail.
! 3. Counts are integer(int64), where C has uint64_t: they stay below 2**63.
! 4. Indices of events begin at 1; of arrays of readings, element i is the i-th event's.
! 5. Beginning and ending a region is a call of libtare's and nothing else. By name it is looked up at each call, while
!    regions are counted: at the end, that lies inside of the region (not under tare's engine). Short regions want a handle.
!
! SPDX-License-Identifier: MIT
module tare
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64, real64
  implicit none
  private

  public :: tare_version, tare_error, tare_counters, tare_reading, tare_region, tare_region_passes
  public :: tare_open, tare_add, tare_start, tare_read, tare_stop, tare_reset, tare_close
  public :: tare_event_count, tare_event_name, tare_event_unit, tare_event_source
  public :: tare_difference, tare_scaled, tare_overflow, tare_no_overflow, tare_overflow_at
  public :: tare_regions_start, tare_region_begin, tare_region_end, tare_region_read

  ! error%code: enum tare_error_code
  integer, parameter, public :: tare_error_none = 0, tare_error_usage = 1, tare_error_syntax = 2, &
    tare_error_not_found = 3, tare_error_unsupported = 4, tare_error_permission = 5, tare_error_busy = 6, &
    tare_error_limit = 7, tare_error_no_memory = 8, tare_error_io = 9, tare_error_system = 10
  ! enum tare_scope
  integer, parameter, public :: tare_thread = 0, tare_process = 1
  ! reading%state: enum tare_state
  integer(int32), parameter, public :: tare_counted = 0_int32, tare_partly = 1_int32, tare_not_counted = 2_int32
  ! reading%flags: enum tare_flag, or-ed
  integer(int32), parameter, public :: tare_some_cpus = 1_int32, tare_lost_counts = 2_int32
  integer, parameter, public :: tare_events_most = 64

  type :: tare_error
    integer :: code = tare_error_none
    integer :: os_errno = 0
    character(len=512) :: text = '', hint = ''
  end type

  ! A set of counters; tare_close() frees it. A copy is the same set.
  type :: tare_counters
    private
    type(c_ptr) :: set = c_null_ptr
  end type

  type, bind(c) :: tare_reading
    integer(c_int64_t) :: count = 0, enabled_ns = 0, running_ns = 0
    integer(c_int32_t) :: state = tare_not_counted
    integer(c_int32_t) :: flags = 0
  end type

  ! A handle, from tare_region("name"); valid until the process ends.
  type, bind(c) :: tare_region
    private
    type(c_ptr) :: handle = c_null_ptr
  end type

  type, bind(c) :: tare_region_passes
    integer(c_int64_t) :: entries = 0, exits = 0, threads = 0, unbalanced = 0
  end type

  interface tare_region
    module procedure region_named
  end interface
  ! By handle these are libtare's own functions: nothing of the binding is in the region. (A structure of one pointer is
  ! passed as the pointer.)
  interface tare_region_begin
    subroutine begin_handle(region) bind(c, name='tare_region_enter')
      import :: tare_region
      type(tare_region), value :: region
    end subroutine
    ! also libtare's. A name that cannot be had (no memory, '') counts nothing.
    subroutine tare_region_enter_text(name)
      character(len=*), intent(in) :: name
    end subroutine
  end interface
  interface tare_region_end
    subroutine end_handle(region) bind(c, name='tare_region_leave')
      import :: tare_region
      type(tare_region), value :: region
    end subroutine
    subroutine tare_region_leave_text(name)
      character(len=*), intent(in) :: name
    end subroutine
  end interface
  interface tare_region_read
    module procedure read_handle, read_name
  end interface

  ! struct tare_error, struct tare_options
  type, bind(c) :: c_error
    integer(c_int) :: code = 0, os_errno = 0
    character(kind=c_char) :: text(512) = c_null_char, hint(512) = c_null_char
  end type
  type, bind(c) :: c_options
    integer(c_size_t) :: bytes
    integer(c_int) :: scope
  end type

  ! What a handler is told: struct tare_overflow. event is the index less 1, as in C.
  type, bind(c) :: tare_overflow_at
    integer(c_size_t) :: event = 0
    integer(c_int64_t) :: period = 0
    type(c_ptr) :: address = c_null_ptr, context = c_null_ptr
  end type

  abstract interface
    ! It runs in a signal handler: no input or output, no allocation.
    subroutine tare_overflow_handler(overflow, data) bind(c)
      import :: c_ptr, tare_overflow_at
      type(tare_overflow_at), intent(in) :: overflow
      type(c_ptr), value :: data
    end subroutine
  end interface
  public :: tare_overflow_handler

  interface
    function c_overflow(set, event, period, handler, data, error) bind(c, name='tare_overflow') result(done)
      import :: c_bool, c_error, c_funptr, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: set, data
      integer(c_size_t), value :: event
      integer(c_int64_t), value :: period
      type(c_funptr), value :: handler
      type(c_error), intent(inout) :: error
      logical(c_bool) :: done
    end function
    function c_version() bind(c, name='tare_version') result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function
    function c_open(options, set, error) bind(c, name='tare_open') result(done)
      import :: c_bool, c_error, c_options, c_ptr
      type(c_options), intent(in) :: options
      type(c_ptr), intent(out) :: set
      type(c_error), intent(inout) :: error
      logical(c_bool) :: done
    end function
    function c_add(set, events, error) bind(c, name='tare_add') result(done)
      import :: c_bool, c_char, c_error, c_ptr
      type(c_ptr), value :: set
      character(kind=c_char), intent(in) :: events(*)
      type(c_error), intent(inout) :: error
      logical(c_bool) :: done
    end function
    function c_count(set) bind(c, name='tare_event_count') result(n)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: set
      integer(c_size_t) :: n
    end function
    function c_event_name(set, at) bind(c, name='tare_event_name') result(text)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: set
      integer(c_size_t), value :: at
      type(c_ptr) :: text
    end function
    function c_event_unit(set, at) bind(c, name='tare_event_unit') result(text)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: set
      integer(c_size_t), value :: at
      type(c_ptr) :: text
    end function
    function c_event_source(set, at) bind(c, name='tare_event_source') result(text)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: set
      integer(c_size_t), value :: at
      type(c_ptr) :: text
    end function
    function c_start(set, error) bind(c, name='tare_start') result(done)
      import :: c_bool, c_error, c_ptr
      type(c_ptr), value :: set
      type(c_error), intent(inout) :: error
      logical(c_bool) :: done
    end function
    function c_read(set, readings, error) bind(c, name='tare_read') result(done)
      import :: c_bool, c_error, c_ptr, tare_reading
      type(c_ptr), value :: set
      type(tare_reading), intent(inout) :: readings(*)
      type(c_error), intent(inout) :: error
      logical(c_bool) :: done
    end function
    function c_stop(set, readings, error) bind(c, name='tare_stop') result(done)
      import :: c_bool, c_error, c_ptr
      type(c_ptr), value :: set, readings
      type(c_error), intent(inout) :: error
      logical(c_bool) :: done
    end function
    function c_reset(set, error) bind(c, name='tare_reset') result(done)
      import :: c_bool, c_error, c_ptr
      type(c_ptr), value :: set
      type(c_error), intent(inout) :: error
      logical(c_bool) :: done
    end function
    subroutine c_close(set) bind(c, name='tare_close')
      import :: c_ptr
      type(c_ptr), value :: set
    end subroutine
    subroutine c_difference(before, after, n, spent) bind(c, name='tare_difference')
      import :: c_size_t, tare_reading
      type(tare_reading), intent(in) :: before(*), after(*)
      integer(c_size_t), value :: n
      type(tare_reading), intent(inout) :: spent(*)
    end subroutine
    function c_scaled(reading, scaled) bind(c, name='tare_scaled') result(known)
      import :: c_bool, c_double, tare_reading
      type(tare_reading), intent(in) :: reading
      real(c_double), intent(inout) :: scaled
      logical(c_bool) :: known
    end function
    function c_regions_start(events, error) bind(c, name='tare_regions_start') result(done)
      import :: c_bool, c_char, c_error
      character(kind=c_char), intent(in) :: events(*)
      type(c_error), intent(inout) :: error
      logical(c_bool) :: done
    end function
    function c_region(name, error) bind(c, name='tare_region') result(handle)
      import :: c_char, c_ptr
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: error
      type(c_ptr) :: handle
    end function
    function c_region_read(handle, scope, passes, readings, error) bind(c, name='tare_region_read') &
        result(done)
      import :: c_bool, c_error, c_int, c_ptr
      type(c_ptr), value :: handle, passes, readings
      integer(c_int), value :: scope
      type(c_error), intent(inout) :: error
      logical(c_bool) :: done
    end function
    function c_strlen(text) bind(c, name='strlen') result(n)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: n
    end function
  end interface

contains

  ! ---- texts and errors ----

  ! A C text that belongs to the library; '' for NULL.
  function text_of(of) result(text)
    type(c_ptr), intent(in) :: of
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: bytes(:)
    integer :: i, n
    n = 0
    if (c_associated(of)) then
      n = int(c_strlen(of))
      call c_f_pointer(of, bytes, [n])
    end if
    allocate (character(len=n) :: text)
    do i = 1, n
      text(i:i) = bytes(i)
    end do
  end function

  pure function text_in(bytes) result(text)
    character(kind=c_char), intent(in) :: bytes(512)
    character(len=512) :: text
    integer :: i
    text = ''
    do i = 1, 512
      if (bytes(i) == c_null_char) exit
      text(i:i) = bytes(i)
    end do
  end function

  ! What a call came to: into `error` where the caller has one; else a failure ends the program.
  subroutine finish(done, inner, error)
    logical, intent(in) :: done
    type(c_error), intent(in) :: inner
    type(tare_error), intent(out), optional :: error
    type(tare_error) :: outer
    if (.not. done) outer = tare_error(inner%code, inner%os_errno, text_in(inner%text), text_in(inner%hint))
    if (present(error)) then
      error = outer
    else if (.not. done) then
      write (error_unit, '(2a)') 'tare: ', trim(outer%text)
      if (outer%hint /= '') write (error_unit, '(2a)') 'tare: ', trim(outer%hint)
      error stop 2
    end if
  end subroutine

  ! A mistake that the library could not see.
  subroutine refuse(text, error)
    character(len=*), intent(in) :: text
    type(tare_error), intent(out), optional :: error
    type(c_error) :: inner
    integer :: i
    inner%code = tare_error_usage
    do i = 1, len(text)
      inner%text(i) = text(i:i)
    end do
    call finish(.false., inner, error)
  end subroutine

  function is_open(counters, error) result(open)
    type(tare_counters), intent(in) :: counters
    type(tare_error), intent(out), optional :: error
    logical :: open
    open = c_associated(counters%set)
    if (.not. open) call refuse('the counters are not open', error)
  end function

  function fits(readings, counters, error) result(fit)
    type(tare_reading), intent(in) :: readings(:)
    type(tare_counters), intent(in) :: counters
    type(tare_error), intent(out), optional :: error
    logical :: fit
    fit = size(readings, kind=c_size_t) >= c_count(counters%set)
    if (.not. fit) call refuse('the array of readings has fewer elements than there are events', error)
  end function

  function tare_version() result(text)
    character(len=:), allocatable :: text
    text = text_of(c_version())
  end function

  ! ---- a set of counters ----

  ! scope: tare_thread (also when absent) or tare_process. A set that `counters` held is closed.
  subroutine tare_open(counters, scope, error)
    type(tare_counters), intent(inout) :: counters
    integer, intent(in), optional :: scope
    type(tare_error), intent(out), optional :: error
    type(c_options) :: options
    type(c_error) :: inner
    logical :: done
    call tare_close(counters)
    options = c_options(c_sizeof(options), tare_thread)
    if (present(scope)) options%scope = scope
    done = c_open(options, counters%set, inner)
    call finish(done, inner, error)
  end subroutine

  subroutine tare_add(counters, events, error)
    type(tare_counters), intent(in) :: counters
    character(len=*), intent(in) :: events
    type(tare_error), intent(out), optional :: error
    type(c_error) :: inner
    logical :: done
    if (.not. is_open(counters, error)) return
    done = c_add(counters%set, trim(events)//c_null_char, inner)
    call finish(done, inner, error)
  end subroutine

  ! 0 when the set is not open
  function tare_event_count(counters) result(n)
    type(tare_counters), intent(in) :: counters
    integer :: n
    n = 0
    if (c_associated(counters%set)) n = int(c_count(counters%set))
  end function

  function has_event(counters, index) result(has)
    type(tare_counters), intent(in) :: counters
    integer, intent(in) :: index
    logical :: has
    integer :: n
    n = tare_event_count(counters)
    has = index >= 1 .and. index <= n
  end function

  ! Of the index-th event, from 1; '' when there is none.
  function tare_event_name(counters, index) result(text)
    type(tare_counters), intent(in) :: counters
    integer, intent(in) :: index
    character(len=:), allocatable :: text
    text = ''
    if (has_event(counters, index)) text = text_of(c_event_name(counters%set, int(index - 1, c_size_t)))
  end function

  function tare_event_unit(counters, index) result(text)
    type(tare_counters), intent(in) :: counters
    integer, intent(in) :: index
    character(len=:), allocatable :: text
    text = ''
    if (has_event(counters, index)) text = text_of(c_event_unit(counters%set, int(index - 1, c_size_t)))
  end function

  function tare_event_source(counters, index) result(text)
    type(tare_counters), intent(in) :: counters
    integer, intent(in) :: index
    character(len=:), allocatable :: text
    text = ''
    if (has_event(counters, index)) text = text_of(c_event_source(counters%set, int(index - 1, c_size_t)))
  end function

  subroutine tare_start(counters, error)
    type(tare_counters), intent(in) :: counters
    type(tare_error), intent(out), optional :: error
    type(c_error) :: inner
    logical :: done
    if (.not. is_open(counters, error)) return
    done = c_start(counters%set, inner)
    call finish(done, inner, error)
  end subroutine

  ! Calls handler each `period` of the index-th event (from 1), with `data`, a c_loc() of the program's, or without.
  subroutine tare_overflow(counters, index, period, handler, data, error)
    type(tare_counters), intent(in) :: counters
    integer, intent(in) :: index
    integer(int64), intent(in) :: period
    procedure(tare_overflow_handler) :: handler
    type(c_ptr), intent(in), optional :: data
    type(tare_error), intent(out), optional :: error
    type(c_error) :: inner
    type(c_ptr) :: passed
    logical :: done
    if (.not. is_open(counters, error)) return
    passed = c_null_ptr
    if (present(data)) passed = data
    if (.not. has_event(counters, index)) then
      call refuse('the set has no event of that index', error)
      return
    end if
    done = c_overflow(counters%set, int(index - 1, c_size_t), period, c_funloc(handler), passed, inner)
    call finish(done, inner, error)
  end subroutine

  ! The index-th event calls no handler from here on.
  subroutine tare_no_overflow(counters, index, error)
    type(tare_counters), intent(in) :: counters
    integer, intent(in) :: index
    type(tare_error), intent(out), optional :: error
    type(c_error) :: inner
    logical :: done
    if (.not. is_open(counters, error)) return
    if (.not. has_event(counters, index)) then
      call refuse('the set has no event of that index', error)
      return
    end if
    done = c_overflow(counters%set, int(index - 1, c_size_t), 0_int64, c_null_funptr, c_null_ptr, inner)
    call finish(done, inner, error)
  end subroutine

  ! readings: at least tare_event_count() elements; what is beyond stays as it is
  subroutine tare_read(counters, readings, error)
    type(tare_counters), intent(in) :: counters
    type(tare_reading), intent(inout), contiguous :: readings(:)
    type(tare_error), intent(out), optional :: error
    type(c_error) :: inner
    logical :: done
    if (.not. is_open(counters, error)) return
    if (.not. fits(readings, counters, error)) return
    done = c_read(counters%set, readings, inner)
    call finish(done, inner, error)
  end subroutine

  subroutine tare_stop(counters, readings, error)
    type(tare_counters), intent(in) :: counters
    type(tare_reading), intent(inout), contiguous, target, optional :: readings(:)
    type(tare_error), intent(out), optional :: error
    type(c_error) :: inner
    type(c_ptr) :: into
    logical :: done
    if (.not. is_open(counters, error)) return
    into = c_null_ptr
    if (present(readings)) then
      if (.not. fits(readings, counters, error)) return
      if (size(readings) > 0) into = c_loc(readings)
    end if
    done = c_stop(counters%set, into, inner)
    call finish(done, inner, error)
  end subroutine

  subroutine tare_reset(counters, error)
    type(tare_counters), intent(in) :: counters
    type(tare_error), intent(out), optional :: error
    type(c_error) :: inner
    logical :: done
    if (.not. is_open(counters, error)) return
    done = c_reset(counters%set, inner)
    call finish(done, inner, error)
  end subroutine

  ! Once more is allowed.
  subroutine tare_close(counters)
    type(tare_counters), intent(inout) :: counters
    call c_close(counters%set)
    counters%set = c_null_ptr
  end subroutine

  ! ---- readings ----

  ! As many events as the shortest of the three has; spent is none of the others.
  subroutine tare_difference(before, after, spent)
    type(tare_reading), intent(in), contiguous :: before(:), after(:)
    type(tare_reading), intent(inout), contiguous :: spent(:)
    call c_difference(before, after, int(min(size(before), size(after), size(spent)), c_size_t), spent)
  end subroutine

  ! known is .false. when there is no count (tare_not_counted): then scaled is 0, which is not a count.
  subroutine tare_scaled(reading, scaled, known)
    type(tare_reading), intent(in) :: reading
    real(real64), intent(out) :: scaled
    logical, intent(out) :: known
    scaled = 0
    known = c_scaled(reading, scaled)
  end subroutine

  ! ---- regions ----

  subroutine tare_regions_start(events, error)
    character(len=*), intent(in) :: events
    type(tare_error), intent(out), optional :: error
    type(c_error) :: inner
    logical :: done
    done = c_regions_start(trim(events)//c_null_char, inner)
    call finish(done, inner, error)
  end subroutine

  ! Names up to here take no memory of the heap when they are looked up.
  function handle_of(name, error) result(handle)
    character(len=*), intent(in) :: name
    type(c_ptr), intent(in) :: error
    type(c_ptr) :: handle
    integer, parameter :: short = 255
    character(kind=c_char, len=short + 1) :: copy
    integer :: n
    n = len_trim(name)
    if (n > short) then
      handle = c_region(name(:n)//c_null_char, error)
    else
      copy(:n) = name(:n)
      copy(n + 1:n + 1) = c_null_char
      handle = c_region(copy, error)
    end if
  end function

  function region_named(name, error) result(region)
    character(len=*), intent(in) :: name
    type(tare_error), intent(out), optional :: error
    type(tare_region) :: region
    type(c_error), target :: inner
    region%handle = handle_of(name, c_loc(inner))
    call finish(c_associated(region%handle), inner, error)
  end function

  ! scope: tare_thread (also when absent) or tare_process. readings: at least as many elements as
  ! tare_regions_start() had events.
  subroutine read_handle(region, scope, passes, readings, error)
    type(tare_region), intent(in) :: region
    integer, intent(in), optional :: scope
    type(tare_region_passes), intent(out), optional :: passes
    type(tare_reading), intent(inout), optional :: readings(:)
    type(tare_error), intent(out), optional :: error
    type(tare_reading), target :: all(tare_events_most)
    type(tare_region_passes), target :: seen
    type(c_error) :: inner
    integer(c_int) :: of
    integer :: n
    logical :: done
    of = tare_thread
    if (present(scope)) of = scope
    done = c_region_read(region%handle, of, c_loc(seen), c_loc(all), inner)
    if (done .and. present(passes)) passes = seen
    if (done .and. present(readings)) then
      n = min(size(readings), tare_events_most)
      readings(:n) = all(:n)
    end if
    call finish(done, inner, error)
  end subroutine

  subroutine read_name(name, scope, passes, readings, error)
    character(len=*), intent(in) :: name
    integer, intent(in), optional :: scope
    type(tare_region_passes), intent(out), optional :: passes
    type(tare_reading), intent(inout), optional :: readings(:)
    type(tare_error), intent(out), optional :: error
    type(tare_region) :: region
    type(c_error), target :: inner
    region%handle = handle_of(name, c_loc(inner))
    if (c_associated(region%handle)) then
      call read_handle(region, scope, passes, readings, error)
    else
      call finish(.false., inner, error)
    end if
  end subroutine
end module
