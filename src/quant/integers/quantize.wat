;; Kernels of quantize-kernel.ts: QuantizeLinear to 8 bits, and the error of quantization. rounding.ts and quantize-linear.ts define the results.
;; Memory, in bytes:
;;      0  state of measure: 4 sums of squared errors, 4 sums of squares (f64)
;;     64  state of extremes: 4 least and 4 greatest elements (f32), 4 greatest magnitudes as bits (i32)
;;  64 Ki  the elements, in chunks
;; 128 Ki  the integers
;; 192 Ki  the elements of a constant, at most 4 Mi
(module
  (memory (export "memory") 259 259)

  ;; Writes the int8 values of the floats from $pointer to $end, a multiple of 64 bytes, at least one group, to $target.
  ;; $least and $greatest bound the rounded quotient before the zero point is added; NaN gives the least.
  (func (export "signed")
    (param $pointer i32) (param $end i32) (param $target i32) (param $scale f32) (param $zeroPoint i32) (param $least f32)
    (param $greatest f32)
    (loop $loop
      ;; Four vectors of four: divide, round half to even, saturate, convert, add the zero point; then narrow to 16 bytes.
      (v128.store
        (local.get $target)
        (i8x16.narrow_i16x8_s
          (i16x8.narrow_i32x4_s
            (i32x4.add
              (i32x4.trunc_sat_f32x4_s
                (f32x4.pmin
                  (f32x4.splat (local.get $greatest))
                  (f32x4.pmax
                    (f32x4.splat (local.get $least))
                    (f32x4.nearest (f32x4.div (v128.load (local.get $pointer)) (f32x4.splat (local.get $scale)))))))
              (i32x4.splat (local.get $zeroPoint)))
            (i32x4.add
              (i32x4.trunc_sat_f32x4_s
                (f32x4.pmin
                  (f32x4.splat (local.get $greatest))
                  (f32x4.pmax
                    (f32x4.splat (local.get $least))
                    (f32x4.nearest (f32x4.div (v128.load offset=16 (local.get $pointer)) (f32x4.splat (local.get $scale)))))))
              (i32x4.splat (local.get $zeroPoint))))
          (i16x8.narrow_i32x4_s
            (i32x4.add
              (i32x4.trunc_sat_f32x4_s
                (f32x4.pmin
                  (f32x4.splat (local.get $greatest))
                  (f32x4.pmax
                    (f32x4.splat (local.get $least))
                    (f32x4.nearest (f32x4.div (v128.load offset=32 (local.get $pointer)) (f32x4.splat (local.get $scale)))))))
              (i32x4.splat (local.get $zeroPoint)))
            (i32x4.add
              (i32x4.trunc_sat_f32x4_s
                (f32x4.pmin
                  (f32x4.splat (local.get $greatest))
                  (f32x4.pmax
                    (f32x4.splat (local.get $least))
                    (f32x4.nearest (f32x4.div (v128.load offset=48 (local.get $pointer)) (f32x4.splat (local.get $scale)))))))
              (i32x4.splat (local.get $zeroPoint))))))
      (local.set $target (i32.add (local.get $target) (i32.const 16)))
      (br_if $loop (i32.lt_u (local.tee $pointer (i32.add (local.get $pointer) (i32.const 64))) (local.get $end)))))

  ;; The same to uint8.
  (func (export "unsigned")
    (param $pointer i32) (param $end i32) (param $target i32) (param $scale f32) (param $zeroPoint i32) (param $least f32)
    (param $greatest f32)
    (loop $loop
      (v128.store
        (local.get $target)
        (i8x16.narrow_i16x8_u
          (i16x8.narrow_i32x4_s
            (i32x4.add
              (i32x4.trunc_sat_f32x4_s
                (f32x4.pmin
                  (f32x4.splat (local.get $greatest))
                  (f32x4.pmax
                    (f32x4.splat (local.get $least))
                    (f32x4.nearest (f32x4.div (v128.load (local.get $pointer)) (f32x4.splat (local.get $scale)))))))
              (i32x4.splat (local.get $zeroPoint)))
            (i32x4.add
              (i32x4.trunc_sat_f32x4_s
                (f32x4.pmin
                  (f32x4.splat (local.get $greatest))
                  (f32x4.pmax
                    (f32x4.splat (local.get $least))
                    (f32x4.nearest (f32x4.div (v128.load offset=16 (local.get $pointer)) (f32x4.splat (local.get $scale)))))))
              (i32x4.splat (local.get $zeroPoint))))
          (i16x8.narrow_i32x4_s
            (i32x4.add
              (i32x4.trunc_sat_f32x4_s
                (f32x4.pmin
                  (f32x4.splat (local.get $greatest))
                  (f32x4.pmax
                    (f32x4.splat (local.get $least))
                    (f32x4.nearest (f32x4.div (v128.load offset=32 (local.get $pointer)) (f32x4.splat (local.get $scale)))))))
              (i32x4.splat (local.get $zeroPoint)))
            (i32x4.add
              (i32x4.trunc_sat_f32x4_s
                (f32x4.pmin
                  (f32x4.splat (local.get $greatest))
                  (f32x4.pmax
                    (f32x4.splat (local.get $least))
                    (f32x4.nearest (f32x4.div (v128.load offset=48 (local.get $pointer)) (f32x4.splat (local.get $scale)))))))
              (i32x4.splat (local.get $zeroPoint))))))
      (local.set $target (i32.add (local.get $target) (i32.const 16)))
      (br_if $loop (i32.lt_u (local.tee $pointer (i32.add (local.get $pointer) (i32.const 64))) (local.get $end)))))

  ;; Adds the squared error and the square of each element from $pointer to $end, a multiple of 16 bytes, at least one group, to the state.
  (func (export "measure")
    (param $pointer i32) (param $end i32) (param $scale f32) (param $least f32) (param $greatest f32)
    (local $x v128) (local $y v128) (local $half v128) (local $difference v128) (local $noise v128) (local $noiseUpper v128)
    (local $signal v128) (local $signalUpper v128)
    ;; State that stays in locals while the loop runs.
    (local.set $noise (v128.load (i32.const 0)))
    (local.set $noiseUpper (v128.load offset=16 (i32.const 0)))
    (local.set $signal (v128.load offset=32 (i32.const 0)))
    (local.set $signalUpper (v128.load offset=48 (i32.const 0)))
    (loop $loop
      (local.set $x (v128.load (local.get $pointer)))
      ;; The dequantized value: saturated rounded quotient times scale, in float32.
      (local.set $y
        (f32x4.mul
          (f32x4.pmin
            (f32x4.splat (local.get $greatest))
            (f32x4.pmax
              (f32x4.splat (local.get $least))
              (f32x4.nearest (f32x4.div (local.get $x) (f32x4.splat (local.get $scale))))))
          (f32x4.splat (local.get $scale))))
      ;; Lanes 0 and 1 in double.
      (local.set $half (f64x2.promote_low_f32x4 (local.get $x)))
      (local.set $difference (f64x2.sub (local.get $half) (f64x2.promote_low_f32x4 (local.get $y))))
      (local.set $noise (f64x2.add (local.get $noise) (f64x2.mul (local.get $difference) (local.get $difference))))
      (local.set $signal (f64x2.add (local.get $signal) (f64x2.mul (local.get $half) (local.get $half))))
      ;; Lanes 2 and 3 in double.
      (local.set $half
        (f64x2.promote_low_f32x4 (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 (local.get $x) (local.get $x))))
      (local.set $difference
        (f64x2.sub
          (local.get $half)
          (f64x2.promote_low_f32x4
            (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 (local.get $y) (local.get $y)))))
      (local.set $noiseUpper
        (f64x2.add (local.get $noiseUpper) (f64x2.mul (local.get $difference) (local.get $difference))))
      (local.set $signalUpper (f64x2.add (local.get $signalUpper) (f64x2.mul (local.get $half) (local.get $half))))
      (br_if $loop (i32.lt_u (local.tee $pointer (i32.add (local.get $pointer) (i32.const 16))) (local.get $end))))
    ;; Back to memory.
    (v128.store (i32.const 0) (local.get $noise))
    (v128.store offset=16 (i32.const 0) (local.get $noiseUpper))
    (v128.store offset=32 (i32.const 0) (local.get $signal))
    (v128.store offset=48 (i32.const 0) (local.get $signalUpper)))

  ;; Both at once for finite elements from $pointer to $end, a multiple of 64 bytes, at least one group: writes the integers, of either type, and adds to the
  ;; state as measure does.
  (func (export "quantizeAndMeasure")
    (param $pointer i32) (param $end i32) (param $target i32) (param $scale f32) (param $zeroPoint i32) (param $least f32)
    (param $greatest f32)
    (local $x v128) (local $y v128) (local $half v128) (local $difference v128) (local $noise v128) (local $noiseUpper v128)
    (local $signal v128) (local $signalUpper v128) (local $q0 v128) (local $q1 v128) (local $q2 v128) (local $q3 v128)
    (local.set $noise (v128.load (i32.const 0)))
    (local.set $noiseUpper (v128.load offset=16 (i32.const 0)))
    (local.set $signal (v128.load offset=32 (i32.const 0)))
    (local.set $signalUpper (v128.load offset=48 (i32.const 0)))
    (loop $loop
      ;; Four vectors of four, each as in measure.
      (local.set $x (v128.load (local.get $pointer)))
      (local.set $y
        (f32x4.pmin
          (f32x4.splat (local.get $greatest))
          (f32x4.pmax
            (f32x4.splat (local.get $least))
            (f32x4.nearest (f32x4.div (local.get $x) (f32x4.splat (local.get $scale)))))))
      (local.set $q0 (i32x4.add (i32x4.trunc_sat_f32x4_s (local.get $y)) (i32x4.splat (local.get $zeroPoint))))
      (local.set $y (f32x4.mul (local.get $y) (f32x4.splat (local.get $scale))))
      (local.set $half (f64x2.promote_low_f32x4 (local.get $x)))
      (local.set $difference (f64x2.sub (local.get $half) (f64x2.promote_low_f32x4 (local.get $y))))
      (local.set $noise (f64x2.add (local.get $noise) (f64x2.mul (local.get $difference) (local.get $difference))))
      (local.set $signal (f64x2.add (local.get $signal) (f64x2.mul (local.get $half) (local.get $half))))
      (local.set $half
        (f64x2.promote_low_f32x4 (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 (local.get $x) (local.get $x))))
      (local.set $difference
        (f64x2.sub
          (local.get $half)
          (f64x2.promote_low_f32x4
            (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 (local.get $y) (local.get $y)))))
      (local.set $noiseUpper
        (f64x2.add (local.get $noiseUpper) (f64x2.mul (local.get $difference) (local.get $difference))))
      (local.set $signalUpper (f64x2.add (local.get $signalUpper) (f64x2.mul (local.get $half) (local.get $half))))
      (local.set $x (v128.load offset=16 (local.get $pointer)))
      (local.set $y
        (f32x4.pmin
          (f32x4.splat (local.get $greatest))
          (f32x4.pmax
            (f32x4.splat (local.get $least))
            (f32x4.nearest (f32x4.div (local.get $x) (f32x4.splat (local.get $scale)))))))
      (local.set $q1 (i32x4.add (i32x4.trunc_sat_f32x4_s (local.get $y)) (i32x4.splat (local.get $zeroPoint))))
      (local.set $y (f32x4.mul (local.get $y) (f32x4.splat (local.get $scale))))
      (local.set $half (f64x2.promote_low_f32x4 (local.get $x)))
      (local.set $difference (f64x2.sub (local.get $half) (f64x2.promote_low_f32x4 (local.get $y))))
      (local.set $noise (f64x2.add (local.get $noise) (f64x2.mul (local.get $difference) (local.get $difference))))
      (local.set $signal (f64x2.add (local.get $signal) (f64x2.mul (local.get $half) (local.get $half))))
      (local.set $half
        (f64x2.promote_low_f32x4 (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 (local.get $x) (local.get $x))))
      (local.set $difference
        (f64x2.sub
          (local.get $half)
          (f64x2.promote_low_f32x4
            (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 (local.get $y) (local.get $y)))))
      (local.set $noiseUpper
        (f64x2.add (local.get $noiseUpper) (f64x2.mul (local.get $difference) (local.get $difference))))
      (local.set $signalUpper (f64x2.add (local.get $signalUpper) (f64x2.mul (local.get $half) (local.get $half))))
      (local.set $x (v128.load offset=32 (local.get $pointer)))
      (local.set $y
        (f32x4.pmin
          (f32x4.splat (local.get $greatest))
          (f32x4.pmax
            (f32x4.splat (local.get $least))
            (f32x4.nearest (f32x4.div (local.get $x) (f32x4.splat (local.get $scale)))))))
      (local.set $q2 (i32x4.add (i32x4.trunc_sat_f32x4_s (local.get $y)) (i32x4.splat (local.get $zeroPoint))))
      (local.set $y (f32x4.mul (local.get $y) (f32x4.splat (local.get $scale))))
      (local.set $half (f64x2.promote_low_f32x4 (local.get $x)))
      (local.set $difference (f64x2.sub (local.get $half) (f64x2.promote_low_f32x4 (local.get $y))))
      (local.set $noise (f64x2.add (local.get $noise) (f64x2.mul (local.get $difference) (local.get $difference))))
      (local.set $signal (f64x2.add (local.get $signal) (f64x2.mul (local.get $half) (local.get $half))))
      (local.set $half
        (f64x2.promote_low_f32x4 (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 (local.get $x) (local.get $x))))
      (local.set $difference
        (f64x2.sub
          (local.get $half)
          (f64x2.promote_low_f32x4
            (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 (local.get $y) (local.get $y)))))
      (local.set $noiseUpper
        (f64x2.add (local.get $noiseUpper) (f64x2.mul (local.get $difference) (local.get $difference))))
      (local.set $signalUpper (f64x2.add (local.get $signalUpper) (f64x2.mul (local.get $half) (local.get $half))))
      (local.set $x (v128.load offset=48 (local.get $pointer)))
      (local.set $y
        (f32x4.pmin
          (f32x4.splat (local.get $greatest))
          (f32x4.pmax
            (f32x4.splat (local.get $least))
            (f32x4.nearest (f32x4.div (local.get $x) (f32x4.splat (local.get $scale)))))))
      (local.set $q3 (i32x4.add (i32x4.trunc_sat_f32x4_s (local.get $y)) (i32x4.splat (local.get $zeroPoint))))
      (local.set $y (f32x4.mul (local.get $y) (f32x4.splat (local.get $scale))))
      (local.set $half (f64x2.promote_low_f32x4 (local.get $x)))
      (local.set $difference (f64x2.sub (local.get $half) (f64x2.promote_low_f32x4 (local.get $y))))
      (local.set $noise (f64x2.add (local.get $noise) (f64x2.mul (local.get $difference) (local.get $difference))))
      (local.set $signal (f64x2.add (local.get $signal) (f64x2.mul (local.get $half) (local.get $half))))
      (local.set $half
        (f64x2.promote_low_f32x4 (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 (local.get $x) (local.get $x))))
      (local.set $difference
        (f64x2.sub
          (local.get $half)
          (f64x2.promote_low_f32x4
            (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 (local.get $y) (local.get $y)))))
      (local.set $noiseUpper
        (f64x2.add (local.get $noiseUpper) (f64x2.mul (local.get $difference) (local.get $difference))))
      (local.set $signalUpper (f64x2.add (local.get $signalUpper) (f64x2.mul (local.get $half) (local.get $half))))
      ;; The lowest byte of each integer: all are within the type.
      (v128.store
        (local.get $target)
        (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23
          (i8x16.shuffle 0 4 8 12 16 20 24 28 0 0 0 0 0 0 0 0 (local.get $q0) (local.get $q1))
          (i8x16.shuffle 0 4 8 12 16 20 24 28 0 0 0 0 0 0 0 0 (local.get $q2) (local.get $q3))))
      (local.set $target (i32.add (local.get $target) (i32.const 16)))
      (br_if $loop (i32.lt_u (local.tee $pointer (i32.add (local.get $pointer) (i32.const 64))) (local.get $end))))
    (v128.store (i32.const 0) (local.get $noise))
    (v128.store offset=16 (i32.const 0) (local.get $noiseUpper))
    (v128.store offset=32 (i32.const 0) (local.get $signal))
    (v128.store offset=48 (i32.const 0) (local.get $signalUpper)))

  ;; Adds the squared errors of measure alone, for a scale that is a power of two: $perUnit is 1 / scale. All magnitudes are below 2^23 · scale, and the
  ;; differences in float32 are exact then: they have at most 24 bits.
  (func (export "measureNoise")
    (param $pointer i32) (param $end i32) (param $scale f32) (param $perUnit f32) (param $least f32) (param $greatest f32)
    (local $x v128) (local $difference v128) (local $noise v128) (local $noiseUpper v128)
    (local.set $noise (v128.load (i32.const 0)))
    (local.set $noiseUpper (v128.load offset=16 (i32.const 0)))
    (loop $loop
      (local.set $x (v128.load (local.get $pointer)))
      (local.set $x
        (f32x4.sub
          (local.get $x)
          (f32x4.mul
            (f32x4.pmin
              (f32x4.splat (local.get $greatest))
              (f32x4.pmax
                (f32x4.splat (local.get $least))
                (f32x4.nearest (f32x4.mul (local.get $x) (f32x4.splat (local.get $perUnit))))))
            (f32x4.splat (local.get $scale)))))
      (local.set $difference (f64x2.promote_low_f32x4 (local.get $x)))
      (local.set $noise (f64x2.add (local.get $noise) (f64x2.mul (local.get $difference) (local.get $difference))))
      (local.set $difference
        (f64x2.promote_low_f32x4 (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 (local.get $x) (local.get $x))))
      (local.set $noiseUpper
        (f64x2.add (local.get $noiseUpper) (f64x2.mul (local.get $difference) (local.get $difference))))
      (br_if $loop (i32.lt_u (local.tee $pointer (i32.add (local.get $pointer) (i32.const 16))) (local.get $end))))
    (v128.store (i32.const 0) (local.get $noise))
    (v128.store offset=16 (i32.const 0) (local.get $noiseUpper)))

  ;; The least and the greatest of the elements from $pointer to $end, a multiple of 16 bytes, at least one group, and of the state. They mean nothing where
  ;; a greatest magnitude is not that of a finite number.
  (func (export "extremes")
    (param $pointer i32) (param $end i32)
    (local $x v128) (local $least v128) (local $greatest v128) (local $magnitude v128)
    (local.set $least (v128.load offset=64 (i32.const 0)))
    (local.set $greatest (v128.load offset=80 (i32.const 0)))
    (local.set $magnitude (v128.load offset=96 (i32.const 0)))
    (loop $loop
      (local.set $x (v128.load (local.get $pointer)))
      (local.set $least (f32x4.pmin (local.get $least) (local.get $x)))
      (local.set $greatest (f32x4.pmax (local.get $greatest) (local.get $x)))
      ;; The magnitude is the bits without the sign.
      (local.set $magnitude
        (i32x4.max_s (local.get $magnitude) (v128.and (local.get $x) (i32x4.splat (i32.const 0x7fffffff)))))
      (br_if $loop (i32.lt_u (local.tee $pointer (i32.add (local.get $pointer) (i32.const 16))) (local.get $end))))
    (v128.store offset=64 (i32.const 0) (local.get $least))
    (v128.store offset=80 (i32.const 0) (local.get $greatest))
    (v128.store offset=96 (i32.const 0) (local.get $magnitude))))
