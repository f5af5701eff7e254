! The program of unwind_test.py in Fortran: recursion, internal procedures as callbacks, arrays, formatted output.
module work
  implicit none
  abstract interface
    function of_one(x) result(y)
      real(8), intent(in) :: x
      real(8) :: y
    end function
  end interface
contains
  recursive function factorial(n) result(value)
    integer, intent(in) :: n
    real(8) :: value
    if (n < 2) then
      value = 1
    else
      value = n * factorial(n - 1)
    end if
  end function

  function integral(f, steps) result(total)
    procedure(of_one) :: f
    integer, intent(in) :: steps
    real(8) :: total
    integer :: i
    total = 0
    do i = 1, steps
      total = total + f(real(i, 8) / steps)
    end do
  end function
end module

program places
  use work
  implicit none
  real(8) :: matrix(12, 12), product(12, 12), scale
  character(len=80) :: line
  integer :: i
  scale = 2
  matrix = reshape([(real(i, 8), i = 1, 144)], [12, 12])
  product = matmul(matrix, transpose(matrix))
  write (line, '(f20.5, i8, es14.4)') sum(product), int(factorial(8)), integral(inside, 6)
  read (line, *) scale
  open (unit=9, status='scratch')
  write (9, *) trim(line), scale
  close (9)
contains
  function inside(x) result(y)
    real(8), intent(in) :: x
    real(8) :: y
    y = x * scale + sqrt(x)
  end function
end program
