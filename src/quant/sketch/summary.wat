;; Kernels of summary-kernel.ts: figures and histogram counts of float32 elements, four at a time.
;; scalar-summary.ts defines the results; both give the same bits.
;; Memory, in bytes:
;;      0  state of addUp: 4 least keys, 4 greatest keys, 4 least magnitudes, 4 zero counts (i32), 4 sums, 4 sums of squares (f64)
;;   1024  tables of count: one per lane, 32784 bytes each; a bin is an i64, its count in the upper half, the sum of its offsets in the lower half
;; 192 Ki  the elements
(module
  (memory (export "memory") 4 4)

  ;; Adds the elements from $pointer to $end, a multiple of 16 bytes, at least one group, to the state.
  (func (export "addUp")
    (param $pointer i32) (param $end i32)
    (local $x v128) (local $key v128) (local $magnitude v128) (local $half v128) (local $least v128) (local $greatest v128)
    (local $smallest v128) (local $zeros v128) (local $sum v128) (local $sumUpper v128) (local $squares v128)
    (local $squaresUpper v128)
    ;; State that stays in locals while the loop runs.
    (local.set $least (v128.load (i32.const 0)))
    (local.set $greatest (v128.load offset=16 (i32.const 0)))
    (local.set $smallest (v128.load offset=32 (i32.const 0)))
    (local.set $zeros (v128.load offset=48 (i32.const 0)))
    (local.set $sum (v128.load offset=64 (i32.const 0)))
    (local.set $sumUpper (v128.load offset=80 (i32.const 0)))
    (local.set $squares (v128.load offset=96 (i32.const 0)))
    (local.set $squaresUpper (v128.load offset=112 (i32.const 0)))
    (loop $loop
      (local.set $x (v128.load (local.get $pointer)))
      ;; Order key: the bits as a signed integer that sorts as the floats do.
      (local.set $key
        (v128.xor
          (local.get $x)
          (v128.and (i32x4.shr_s (local.get $x) (i32.const 31)) (i32x4.splat (i32.const 0x7fffffff)))))
      (local.set $least (i32x4.min_s (local.get $least) (local.get $key)))
      (local.set $greatest (i32x4.max_s (local.get $greatest) (local.get $key)))
      ;; The magnitude is the bits without the sign.
      (local.set $magnitude (v128.and (local.get $x) (i32x4.splat (i32.const 0x7fffffff))))
      (local.set $smallest (i32x4.min_s (local.get $smallest) (local.get $magnitude)))
      ;; A comparison gives -1 where it holds, so subtraction counts.
      (local.set $zeros (i32x4.sub (local.get $zeros) (i32x4.eq (local.get $magnitude) (i32x4.splat (i32.const 0)))))
      ;; Lanes 0 and 1 in double.
      (local.set $half (f64x2.promote_low_f32x4 (local.get $x)))
      (local.set $sum (f64x2.add (local.get $sum) (local.get $half)))
      (local.set $squares (f64x2.add (local.get $squares) (f64x2.mul (local.get $half) (local.get $half))))
      ;; Lanes 2 and 3 in double.
      (local.set $half
        (f64x2.promote_low_f32x4 (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 (local.get $x) (local.get $x))))
      (local.set $sumUpper (f64x2.add (local.get $sumUpper) (local.get $half)))
      (local.set $squaresUpper (f64x2.add (local.get $squaresUpper) (f64x2.mul (local.get $half) (local.get $half))))
      (br_if $loop (i32.lt_u (local.tee $pointer (i32.add (local.get $pointer) (i32.const 16))) (local.get $end))))
    ;; Back to memory.
    (v128.store (i32.const 0) (local.get $least))
    (v128.store offset=16 (i32.const 0) (local.get $greatest))
    (v128.store offset=32 (i32.const 0) (local.get $smallest))
    (v128.store offset=48 (i32.const 0) (local.get $zeros))
    (v128.store offset=64 (i32.const 0) (local.get $sum))
    (v128.store offset=80 (i32.const 0) (local.get $sumUpper))
    (v128.store offset=96 (i32.const 0) (local.get $squares))
    (v128.store offset=112 (i32.const 0) (local.get $squaresUpper)))

  ;; Counts the elements from $pointer to $end in bins. $perUnit: float32 units per 1.0, a power of two; 256 units are a bin.
  (func (export "count")
    (param $pointer i32) (param $end i32) (param $perUnit f32)
    (local $units v128) (local $addresses v128) (local $within v128) (local $address i32)
    (loop $loop
      ;; Whole units; 0x80000 makes the lowest one of the grid 0.
      (local.set $units
        (i32x4.add
          (i32x4.trunc_sat_f32x4_s
            (f32x4.floor (f32x4.mul (v128.load (local.get $pointer)) (f32x4.splat (local.get $perUnit)))))
          (i32x4.splat (i32.const 0x80000))))
      ;; Byte address of the bin inside a table.
      (local.set $addresses (i32x4.shl (i32x4.shr_u (local.get $units) (i32.const 8)) (i32.const 3)))
      ;; Offset inside the bin, 0 to 255.
      (local.set $within (v128.and (local.get $units) (i32x4.splat (i32.const 255))))
      ;; One table per lane: neighbors often fall into one bin, and a second add to the same bin would wait for the first.
      ;; Adds 1 to the count and the offset to the sum of offsets.
      (i64.store offset=1024
        (local.tee $address (i32x4.extract_lane 0 (local.get $addresses)))
        (i64.add
          (i64.load offset=1024 (local.get $address))
          (i64.add (i64.extend_i32_u (i32x4.extract_lane 0 (local.get $within))) (i64.const 0x100000000))))
      (i64.store offset=33808
        (local.tee $address (i32x4.extract_lane 1 (local.get $addresses)))
        (i64.add
          (i64.load offset=33808 (local.get $address))
          (i64.add (i64.extend_i32_u (i32x4.extract_lane 1 (local.get $within))) (i64.const 0x100000000))))
      (i64.store offset=66592
        (local.tee $address (i32x4.extract_lane 2 (local.get $addresses)))
        (i64.add
          (i64.load offset=66592 (local.get $address))
          (i64.add (i64.extend_i32_u (i32x4.extract_lane 2 (local.get $within))) (i64.const 0x100000000))))
      (i64.store offset=99376
        (local.tee $address (i32x4.extract_lane 3 (local.get $addresses)))
        (i64.add
          (i64.load offset=99376 (local.get $address))
          (i64.add (i64.extend_i32_u (i32x4.extract_lane 3 (local.get $within))) (i64.const 0x100000000))))
      (br_if $loop (i32.lt_u (local.tee $pointer (i32.add (local.get $pointer) (i32.const 16))) (local.get $end))))))
