;; Kernel of settle-kernel.ts: changes choices of one row while that lowers its error. settle-choices.ts defines the results.
;; Memory: products, 576 × 576 float32, from 0; partners, 576 × 32 int32, from 1,327,104, and products with them, float32, from 1,400,832;
;; then per input a double of changes from 1,474,560, pull from 1,479,168, squares H_jj + λ from 1,483,776, and losses from 1,488,384.
;; Arithmetic is in double.
(module
  (memory (export "memory") 24 24)

  ;; loss = change · (2 · pull + change · square) of two inputs from byte $at of the doubles.
  (func $lose (param $at i32)
    (local $change v128) (local $pull v128)
    (local.set $change (v128.load offset=1474560 (local.get $at)))
    (local.set $pull (v128.load offset=1479168 (local.get $at)))
    (v128.store offset=1488384 (local.get $at)
      (f64x2.mul
        (local.get $change)
        (f64x2.add
          (f64x2.add (local.get $pull) (local.get $pull))
          (f64x2.mul (local.get $change) (v128.load offset=1483776 (local.get $at)))))))

  ;; Changes choice $index: pull and losses follow. $size is even; elements beyond the inputs are not read elsewhere.
  (func $flip (param $index i32) (param $size i32) (param $damping f64)
    (local $change f64) (local $at i32) (local $row i32) (local $end i32) (local $factor v128) (local $pull v128) (local $own v128)
    (local.set $at (i32.shl (local.get $index) (i32.const 3)))
    (local.set $change (f64.load offset=1474560 (local.get $at)))
    (local.set $factor (f64x2.splat (local.get $change)))
    (f64.store offset=1474560 (local.get $at) (f64.neg (local.get $change)))
    (local.set $at (i32.const 0))
    (local.set $row (i32.shl (i32.mul (local.get $index) (local.get $size)) (i32.const 2)))
    (local.set $end (i32.shl (local.get $size) (i32.const 3)))
    (loop $loop
      (local.set $pull
        (f64x2.add
          (v128.load offset=1479168 (local.get $at))
          (f64x2.mul (local.get $factor) (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $row))))))
      (v128.store offset=1479168 (local.get $at) (local.get $pull))
      ;; $lose, in place: a call would take as long.
      (local.set $own (v128.load offset=1474560 (local.get $at)))
      (v128.store offset=1488384 (local.get $at)
        (f64x2.mul
          (local.get $own)
          (f64x2.add
            (f64x2.add (local.get $pull) (local.get $pull))
            (f64x2.mul (local.get $own) (v128.load offset=1483776 (local.get $at))))))
      (local.set $row (i32.add (local.get $row) (i32.const 8)))
      (br_if $loop (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 16))) (local.get $end))))
    (local.set $at (i32.shl (local.get $index) (i32.const 3)))
    (f64.store offset=1479168 (local.get $at)
      (f64.add (f64.load offset=1479168 (local.get $at)) (f64.mul (local.get $change) (local.get $damping))))
    (call $lose (i32.and (local.get $at) (i32.const -16))))

  ;; $size is that of the stored matrix, $count the number of inputs.
  (func (export "settle") (param $size i32) (param $count i32) (param $each i32) (param $damping f64) (param $smallest f64) (param $passes i32)
    (local $lowered i32) (local $i i32) (local $at i32) (local $k i32) (local $end i32) (local $j i32) (local $partner i32)
    (local $twice f64) (local $alone f64) (local $gain f64) (local $both f64)
    (local.set $end (i32.shl (local.get $size) (i32.const 3)))
    (loop $losses
      (call $lose (local.get $at))
      (br_if $losses (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 16))) (local.get $end))))
    (loop $pass
      (local.set $lowered (i32.const 0))
      (local.set $i (i32.const 0))
      (loop $inputs
        (local.set $at (i32.shl (local.get $i) (i32.const 3)))
        (local.set $twice (f64.load offset=1474560 (local.get $at)))
        (if (f64.ne (local.get $twice) (f64.const 0))
          (then
            (local.set $twice (f64.add (local.get $twice) (local.get $twice)))
            (local.set $alone (f64.neg (f64.load offset=1488384 (local.get $at))))
            (local.set $gain (local.get $alone))
            (local.set $partner (local.get $i))
            (local.set $k (i32.shl (i32.mul (local.get $i) (local.get $each)) (i32.const 2)))
            (local.set $end (i32.add (local.get $k) (i32.shl (local.get $each) (i32.const 2))))
            (block $found
              (br_if $found (i32.ge_u (local.get $k) (local.get $end)))
              (loop $partners
                (local.set $j (i32.load offset=1327104 (local.get $k)))
                (local.set $at (i32.shl (local.get $j) (i32.const 3)))
                ;; both = alone − loss − 2 · own · product · change
                (local.set $both
                  (f64.sub
                    (f64.sub (local.get $alone) (f64.load offset=1488384 (local.get $at)))
                    (f64.mul
                      (f64.mul (local.get $twice) (f64.promote_f32 (f32.load offset=1400832 (local.get $k))))
                      (f64.load offset=1474560 (local.get $at)))))
                (if (f64.gt (local.get $both) (local.get $gain))
                  (then
                    (local.set $gain (local.get $both))
                    (local.set $partner (local.get $j))))
                (br_if $partners (i32.lt_u (local.tee $k (i32.add (local.get $k) (i32.const 4))) (local.get $end)))))
            (if (f64.gt (local.get $gain) (local.get $smallest))
              (then
                (call $flip (local.get $i) (local.get $size) (local.get $damping))
                (if (i32.ne (local.get $partner) (local.get $i))
                  (then (call $flip (local.get $partner) (local.get $size) (local.get $damping))))
                (local.set $lowered (i32.const 1))))))
        (br_if $inputs (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $count))))
      (local.set $passes (i32.sub (local.get $passes) (i32.const 1)))
      (br_if $pass (i32.and (local.get $lowered) (i32.gt_s (local.get $passes) (i32.const 0)))))))
