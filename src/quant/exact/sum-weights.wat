;; Kernel of sum-kernel.ts: sums of 8-bit integers less a zero point, and of their magnitudes.
;; Memory: the sum and the sum of magnitudes, int32, from 0; the integers from 64 Ki.
(module
  (memory (export "memory") 2 2)

  ;; Sums the int8 values from $pointer to $end.
  (func (export "signed") (param $pointer i32) (param $end i32) (param $zeroPoint i32)
    (local $w v128) (local $sums v128) (local $magnitudes v128) (local $sum i32) (local $magnitude i32) (local $one i32) (local $whole i32)
    (local.set $whole (i32.sub (local.get $end) (i32.const 8)))
    (block $groups
      (loop $loop
        (br_if $groups (i32.gt_s (local.get $pointer) (local.get $whole)))
        (local.set $w (i16x8.sub (v128.load8x8_s (local.get $pointer)) (i16x8.splat (local.get $zeroPoint))))
        (local.set $sums (i32x4.add (local.get $sums) (i32x4.extadd_pairwise_i16x8_s (local.get $w))))
        (local.set $magnitudes (i32x4.add (local.get $magnitudes) (i32x4.extadd_pairwise_i16x8_s (i16x8.abs (local.get $w)))))
        (local.set $pointer (i32.add (local.get $pointer) (i32.const 8)))
        (br $loop)))
    (block $rest
      (loop $loop
        (br_if $rest (i32.ge_u (local.get $pointer) (local.get $end)))
        (local.set $one (i32.sub (i32.load8_s (local.get $pointer)) (local.get $zeroPoint)))
        (local.set $sum (i32.add (local.get $sum) (local.get $one)))
        (local.set $magnitude
          (i32.add
            (local.get $magnitude)
            (select (local.get $one) (i32.sub (i32.const 0) (local.get $one)) (i32.gt_s (local.get $one) (i32.const 0)))))
        (local.set $pointer (i32.add (local.get $pointer) (i32.const 1)))
        (br $loop)))
    (call $store (local.get $sum) (local.get $magnitude) (local.get $sums) (local.get $magnitudes)))

  ;; The same of uint8 values.
  (func (export "unsigned") (param $pointer i32) (param $end i32) (param $zeroPoint i32)
    (local $w v128) (local $sums v128) (local $magnitudes v128) (local $sum i32) (local $magnitude i32) (local $one i32) (local $whole i32)
    (local.set $whole (i32.sub (local.get $end) (i32.const 8)))
    (block $groups
      (loop $loop
        (br_if $groups (i32.gt_s (local.get $pointer) (local.get $whole)))
        (local.set $w (i16x8.sub (v128.load8x8_u (local.get $pointer)) (i16x8.splat (local.get $zeroPoint))))
        (local.set $sums (i32x4.add (local.get $sums) (i32x4.extadd_pairwise_i16x8_s (local.get $w))))
        (local.set $magnitudes (i32x4.add (local.get $magnitudes) (i32x4.extadd_pairwise_i16x8_s (i16x8.abs (local.get $w)))))
        (local.set $pointer (i32.add (local.get $pointer) (i32.const 8)))
        (br $loop)))
    (block $rest
      (loop $loop
        (br_if $rest (i32.ge_u (local.get $pointer) (local.get $end)))
        (local.set $one (i32.sub (i32.load8_u (local.get $pointer)) (local.get $zeroPoint)))
        (local.set $sum (i32.add (local.get $sum) (local.get $one)))
        (local.set $magnitude
          (i32.add
            (local.get $magnitude)
            (select (local.get $one) (i32.sub (i32.const 0) (local.get $one)) (i32.gt_s (local.get $one) (i32.const 0)))))
        (local.set $pointer (i32.add (local.get $pointer) (i32.const 1)))
        (br $loop)))
    (call $store (local.get $sum) (local.get $magnitude) (local.get $sums) (local.get $magnitudes)))

  (func $store (param $sum i32) (param $magnitude i32) (param $sums v128) (param $magnitudes v128)
    (i32.store (i32.const 0) (i32.add (local.get $sum) (call $add (local.get $sums))))
    (i32.store (i32.const 4) (i32.add (local.get $magnitude) (call $add (local.get $magnitudes)))))

  (func $add (param $lanes v128) (result i32)
    (i32.add
      (i32.add (i32x4.extract_lane 0 (local.get $lanes)) (i32x4.extract_lane 1 (local.get $lanes)))
      (i32.add (i32x4.extract_lane 2 (local.get $lanes)) (i32x4.extract_lane 3 (local.get $lanes))))))
