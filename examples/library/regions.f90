! Regions in Fortran, by handle and by name:  TARE_EVENTS=page-faults:u,task-clock ./regions
program regions
  use tare
  implicit none
  integer, parameter :: page = 4096, pages = 100, parts = 3
  character(len=1), save :: fresh(page*pages, parts)
  type(tare_region) :: part
  integer :: i
  part = tare_region('part')
  call tare_region_begin('whole')
  do i = 1, parts
    call tare_region_begin(part)
    call fill(fresh(:, i))
    call tare_region_end(part)
  end do
  call tare_region_end('whole')
contains
  subroutine fill(bytes)
    character(len=1), intent(inout), volatile :: bytes(:)
    integer :: at
    do at = 1, size(bytes), page
      bytes(at) = 'x'
    end do
  end subroutine
end program
