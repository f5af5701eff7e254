--  The program of unwind_test.py in Ada: exceptions, nested subprograms, results of unknown size, a task.
with Ada.Text_IO;

procedure Places is
   Trouble : exception;
   Total : Integer := 0;

   function Line (N : Natural) return String is
      Text : constant String (1 .. N) := (others => 'x');
   begin
      return Text & Integer'Image (N);
   end Line;

   procedure Deeper (N : Natural) is
      procedure Inner (K : Natural) is
      begin
         if K = 0 then
            raise Trouble with Line (5);
         end if;
         Total := Total + N;
         Deeper (K - 1);
      end Inner;
   begin
      Inner (N);
   end Deeper;

   task Worker is
      entry Start (N : Natural);
   end Worker;

   task body Worker is
   begin
      accept Start (N : Natural) do
         Total := Total + N;
      end Start;
   end Worker;
begin
   begin
      Deeper (4);
   exception
      when Trouble =>
         Total := Total + Line (7)'Length;
   end;
   Worker.Start (3);
   Ada.Text_IO.Put_Line (Integer'Image (Total));
end Places;
