// The program of unwind_test.py in Rust: closures, traits, a panic that is caught, a thread.
use std::collections::BTreeMap;
use std::fmt::Write;

trait Shape {
    fn area(&self) -> f64;
}

struct Square(f64);
struct Circle(f64);

impl Shape for Square {
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}

impl Shape for Circle {
    fn area(&self) -> f64 {
        self.0 * self.0 * 3.0
    }
}

#[inline(never)]
fn deep(n: u64) -> u64 {
    if n == 0 {
        panic!("at the bottom");
    }
    deep(n - 1) + n
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Square(2.0)), Box::new(Circle(1.0))];
    let mut text = String::new();
    let mut map = BTreeMap::new();
    for shape in &shapes {
        write!(text, "{:.3} ", shape.area()).unwrap();
    }
    for word in "the quick brown fox jumps".split(' ') {
        *map.entry(word.len()).or_insert(0) += 1;
    }
    let caught = std::panic::catch_unwind(|| deep(5)).is_err();
    let sum = std::thread::spawn(move || map.values().sum::<i32>()).join().unwrap();
    println!("{text} {caught} {sum}");
}
