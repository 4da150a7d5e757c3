;; Kernel of settle-kernel.ts: changes choices of one row while that lowers its error. settle-choices.ts defines the results.
;; Memory: products, 576 × 576 float32, from 0; partners, 576 × 32 int32, from 1,327,104; then per input, from 1,400,832 on and 4,608 bytes apart,
;; a double of changes, pull, and squares H_jj + λ. Arithmetic is in double.
(module
  (memory (export "memory") 24 24)

  ;; Changes choice $index: pull follows. $size is even; elements beyond the inputs are not read elsewhere.
  (func $flip (param $index i32) (param $size i32) (param $damping f64)
    (local $change f64) (local $at i32) (local $row i32) (local $end i32) (local $factor v128)
    (local.set $change (f64.load offset=1400832 (i32.shl (local.get $index) (i32.const 3))))
    (local.set $factor (f64x2.splat (local.get $change)))
    (local.set $row (i32.shl (i32.mul (local.get $index) (local.get $size)) (i32.const 2)))
    (local.set $end (i32.shl (local.get $size) (i32.const 3)))
    (loop $loop
      (v128.store offset=1405440 (local.get $at)
        (f64x2.add
          (v128.load offset=1405440 (local.get $at))
          (f64x2.mul (local.get $factor) (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $row))))))
      (local.set $row (i32.add (local.get $row) (i32.const 8)))
      (br_if $loop (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 16))) (local.get $end))))
    (local.set $at (i32.shl (local.get $index) (i32.const 3)))
    (f64.store offset=1405440 (local.get $at)
      (f64.add (f64.load offset=1405440 (local.get $at)) (f64.mul (local.get $change) (local.get $damping))))
    (f64.store offset=1400832 (local.get $at) (f64.neg (local.get $change))))

  ;; $size is that of the stored matrix, $count the number of inputs.
  (func (export "settle") (param $size i32) (param $count i32) (param $each i32) (param $damping f64) (param $smallest f64)
    (local $lowered i32) (local $i i32) (local $at i32) (local $k i32) (local $end i32) (local $j i32) (local $partner i32) (local $row i32)
    (local $own f64) (local $alone f64) (local $gain f64) (local $change f64) (local $both f64)
    (loop $pass
      (local.set $lowered (i32.const 0))
      (local.set $i (i32.const 0))
      (loop $inputs
        (local.set $at (i32.shl (local.get $i) (i32.const 3)))
        (local.set $own (f64.load offset=1400832 (local.get $at)))
        (if (f64.ne (local.get $own) (f64.const 0))
          (then
            ;; alone = −own · (2 · pull + own · square)
            (local.set $alone
              (f64.mul
                (f64.neg (local.get $own))
                (f64.add
                  (f64.mul (f64.const 2) (f64.load offset=1405440 (local.get $at)))
                  (f64.mul (local.get $own) (f64.load offset=1410048 (local.get $at))))))
            (local.set $gain (local.get $alone))
            (local.set $partner (local.get $i))
            (local.set $row (i32.shl (i32.mul (local.get $i) (local.get $size)) (i32.const 2)))
            (local.set $k (i32.shl (i32.mul (local.get $i) (local.get $each)) (i32.const 2)))
            (local.set $end (i32.add (local.get $k) (i32.shl (local.get $each) (i32.const 2))))
            (block $found
              (loop $partners
                (br_if $found (i32.ge_u (local.get $k) (local.get $end)))
                (local.set $j (i32.load offset=1327104 (local.get $k)))
                (local.set $k (i32.add (local.get $k) (i32.const 4)))
                (local.set $at (i32.shl (local.get $j) (i32.const 3)))
                (local.set $change (f64.load offset=1400832 (local.get $at)))
                (br_if $partners (f64.eq (local.get $change) (f64.const 0)))
                ;; both = alone − change · (2 · pull + change · square + 2 · own · product)
                (local.set $both
                  (f64.sub
                    (local.get $alone)
                    (f64.mul
                      (local.get $change)
                      (f64.add
                        (f64.add
                          (f64.mul (f64.const 2) (f64.load offset=1405440 (local.get $at)))
                          (f64.mul (local.get $change) (f64.load offset=1410048 (local.get $at))))
                        (f64.mul
                          (f64.mul (f64.const 2) (local.get $own))
                          (f64.promote_f32 (f32.load (i32.add (local.get $row) (i32.shl (local.get $j) (i32.const 2))))))))))
                (if (f64.gt (local.get $both) (local.get $gain))
                  (then
                    (local.set $gain (local.get $both))
                    (local.set $partner (local.get $j))))
                (br $partners)))
            (if (f64.gt (local.get $gain) (local.get $smallest))
              (then
                (call $flip (local.get $i) (local.get $size) (local.get $damping))
                (if (i32.ne (local.get $partner) (local.get $i))
                  (then (call $flip (local.get $partner) (local.get $size) (local.get $damping))))
                (local.set $lowered (i32.const 1))))))
        (br_if $inputs (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $count))))
      (br_if $pass (local.get $lowered)))))
