;; Kernel of compare-kernel.ts: sums over pairs of floats, added one element after the other in double precision. compare.ts defines the results.
;; Memory, in bytes:
;;     0  state (f64): squares of the reference and of the candidate, products, squared errors, largest errors of two lanes, sum of the reference,
;;        squared deviations
;;    64  4 least and 4 greatest elements of the reference (f32)
;;  4 Ki  the reference, 68 Ki the candidate: one chunk of each
(module
  (memory (export "memory") 3 3)

  ;; Adds the pairs of the elements from $x to $end, a multiple of 16 bytes, at least one group, with those from $y.
  (func (export "addPairs") (param $x i32) (param $end i32) (param $y i32)
    (local $squares v128) (local $products v128) (local $maxAbs v128) (local $sum f64) (local $least v128) (local $greatest v128)
    (local $a v128) (local $x2 v128) (local $y2 v128) (local $error v128) (local $product v128)
    (local.set $squares (v128.load (i32.const 0)))
    (local.set $products (v128.load (i32.const 16)))
    (local.set $maxAbs (v128.load (i32.const 32)))
    (local.set $sum (f64.load (i32.const 48)))
    (local.set $least (v128.load (i32.const 64)))
    (local.set $greatest (v128.load (i32.const 80)))
    (loop $loop
      (local.set $a (v128.load (local.get $x)))
      (local.set $least (f32x4.pmin (local.get $least) (local.get $a)))
      (local.set $greatest (f32x4.pmax (local.get $greatest) (local.get $a)))

      ;; Two elements as doubles. A sum of two lanes gets both numbers of the first pair, then those of the second.
      (local.set $x2 (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $x))))
      (local.set $y2 (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $y))))
      (local.set $error (f64x2.sub (local.get $x2) (local.get $y2)))
      (local.set $maxAbs (f64x2.pmax (local.get $maxAbs) (f64x2.abs (local.get $error))))
      (local.set $sum (f64.add (local.get $sum) (f64x2.extract_lane 0 (local.get $x2))))
      (local.set $sum (f64.add (local.get $sum) (f64x2.extract_lane 1 (local.get $x2))))
      (local.set $product (f64x2.mul (local.get $x2) (local.get $y2)))
      (local.set $error (f64x2.mul (local.get $error) (local.get $error)))
      (local.set $x2 (f64x2.mul (local.get $x2) (local.get $x2)))
      (local.set $y2 (f64x2.mul (local.get $y2) (local.get $y2)))
      (local.set $squares
        (f64x2.add
          (local.get $squares)
          (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $x2) (local.get $y2))))
      (local.set $products
        (f64x2.add
          (local.get $products)
          (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $product) (local.get $error))))
      (local.set $squares
        (f64x2.add
          (local.get $squares)
          (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $x2) (local.get $y2))))
      (local.set $products
        (f64x2.add
          (local.get $products)
          (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $product) (local.get $error))))

      (local.set $x2 (f64x2.promote_low_f32x4 (v128.load64_zero offset=8 (local.get $x))))
      (local.set $y2 (f64x2.promote_low_f32x4 (v128.load64_zero offset=8 (local.get $y))))
      (local.set $error (f64x2.sub (local.get $x2) (local.get $y2)))
      (local.set $maxAbs (f64x2.pmax (local.get $maxAbs) (f64x2.abs (local.get $error))))
      (local.set $sum (f64.add (local.get $sum) (f64x2.extract_lane 0 (local.get $x2))))
      (local.set $sum (f64.add (local.get $sum) (f64x2.extract_lane 1 (local.get $x2))))
      (local.set $product (f64x2.mul (local.get $x2) (local.get $y2)))
      (local.set $error (f64x2.mul (local.get $error) (local.get $error)))
      (local.set $x2 (f64x2.mul (local.get $x2) (local.get $x2)))
      (local.set $y2 (f64x2.mul (local.get $y2) (local.get $y2)))
      (local.set $squares
        (f64x2.add
          (local.get $squares)
          (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $x2) (local.get $y2))))
      (local.set $products
        (f64x2.add
          (local.get $products)
          (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $product) (local.get $error))))
      (local.set $squares
        (f64x2.add
          (local.get $squares)
          (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $x2) (local.get $y2))))
      (local.set $products
        (f64x2.add
          (local.get $products)
          (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $product) (local.get $error))))

      (local.set $y (i32.add (local.get $y) (i32.const 16)))
      (br_if $loop (i32.lt_u (local.tee $x (i32.add (local.get $x) (i32.const 16))) (local.get $end))))
    (v128.store (i32.const 0) (local.get $squares))
    (v128.store (i32.const 16) (local.get $products))
    (v128.store (i32.const 32) (local.get $maxAbs))
    (f64.store (i32.const 48) (local.get $sum))
    (v128.store (i32.const 64) (local.get $least))
    (v128.store (i32.const 80) (local.get $greatest)))

  ;; Adds the squared deviations from $mean of the elements from $pointer to $end, a multiple of 16 bytes, at least one group.
  (func (export "addSquares") (param $pointer i32) (param $end i32) (param $mean f64)
    (local $sum f64) (local $low v128) (local $high v128)
    (local.set $sum (f64.load (i32.const 56)))
    (loop $loop
      (local.set $low
        (f64x2.sub (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $pointer))) (f64x2.splat (local.get $mean))))
      (local.set $high
        (f64x2.sub (f64x2.promote_low_f32x4 (v128.load64_zero offset=8 (local.get $pointer))) (f64x2.splat (local.get $mean))))
      (local.set $low (f64x2.mul (local.get $low) (local.get $low)))
      (local.set $high (f64x2.mul (local.get $high) (local.get $high)))
      (local.set $sum (f64.add (local.get $sum) (f64x2.extract_lane 0 (local.get $low))))
      (local.set $sum (f64.add (local.get $sum) (f64x2.extract_lane 1 (local.get $low))))
      (local.set $sum (f64.add (local.get $sum) (f64x2.extract_lane 0 (local.get $high))))
      (local.set $sum (f64.add (local.get $sum) (f64x2.extract_lane 1 (local.get $high))))
      (br_if $loop (i32.lt_u (local.tee $pointer (i32.add (local.get $pointer) (i32.const 16))) (local.get $end))))
    (f64.store (i32.const 56) (local.get $sum))))
