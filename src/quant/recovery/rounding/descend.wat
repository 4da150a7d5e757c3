;; Kernel of soft-kernel.ts: one step of gradient descent on soft weights. soft-weights.ts defines the results.
;; Memory: arrays of 2^20 float32 each, 4 MiB apart. Arithmetic is in double; stored values are rounded to float32.
;;   0 base, 1 step, 2 factor, 3 rest, 4 variable, 5 mean, 6 square, 7 sigmoid, 8 difference, 9 pull
(module
  (memory (export "memory") 640 640)

  ;; Steps the weights from byte 0 to byte $end of the arrays, a multiple of 8.
  ;; $strength is 2 · strength · exponent of the regularizer, $power its exponent minus 2.
  ;; $rate is the rate divided by the bias of the mean, $squareLeft the bias of the square.
  (func (export "step") (param $end i32) (param $strength f64) (param $power i32) (param $rate f64) (param $squareLeft f64)
    (local $at i32) (local $bits i32)
    (local $s v128) (local $share v128) (local $side v128) (local $term v128) (local $square v128)
    (local $slope v128) (local $m v128) (local $v v128) (local $x v128) (local $k v128) (local $r v128) (local $p v128)
    (loop $loop
      (local.set $s (f64x2.promote_low_f32x4 (v128.load64_zero offset=29360128 (local.get $at))))
      ;; share = s · 1.2 − 0.1, clipped to [0, 1].
      (local.set $share
        (f64x2.pmin
          (f64x2.splat (f64.const 1))
          (f64x2.pmax
            (f64x2.splat (f64.const 0))
            (f64x2.sub (f64x2.mul (local.get $s) (f64x2.splat (f64.const 1.2))) (f64x2.splat (f64.const 0.1))))))
      ;; term = side ^ power · side, side = 2 · share − 1; the power by squaring of |side|.
      (local.set $side
        (f64x2.sub (f64x2.add (local.get $share) (local.get $share)) (f64x2.splat (f64.const 1))))
      (local.set $term (local.get $side))
      (local.set $square (f64x2.abs (local.get $side)))
      (local.set $bits (local.get $power))
      (block $done
        (loop $powers
          (br_if $done (i32.eqz (local.get $bits)))
          (if (i32.and (local.get $bits) (i32.const 1))
            (then (local.set $term (f64x2.mul (local.get $term) (local.get $square)))))
          (local.set $square (f64x2.mul (local.get $square) (local.get $square)))
          (local.set $bits (i32.shr_u (local.get $bits) (i32.const 1)))
          (br $powers)))
      ;; slope = (factor · (pull − rest) − strength · term) · (1.2 · (s · (1 − s))), 0 at a share of 0 or 1.
      (local.set $slope
        (f64x2.mul
          (f64x2.sub
            (f64x2.mul
              (f64x2.promote_low_f32x4 (v128.load64_zero offset=8388608 (local.get $at)))
              (f64x2.sub
                (f64x2.promote_low_f32x4 (v128.load64_zero offset=37748736 (local.get $at)))
                (f64x2.promote_low_f32x4 (v128.load64_zero offset=12582912 (local.get $at)))))
            (f64x2.mul (f64x2.splat (local.get $strength)) (local.get $term)))
          (f64x2.mul
            (f64x2.splat (f64.const 1.2))
            (f64x2.mul (local.get $s) (f64x2.sub (f64x2.splat (f64.const 1)) (local.get $s))))))
      (local.set $slope
        (v128.and
          (local.get $slope)
          (v128.and
            (f64x2.gt (local.get $share) (f64x2.splat (f64.const 0)))
            (f64x2.lt (local.get $share) (f64x2.splat (f64.const 1))))))
      ;; Adam: mean and square decay, and the variable moves.
      (local.set $m
        (f64x2.add
          (f64x2.mul
            (f64x2.promote_low_f32x4 (v128.load64_zero offset=20971520 (local.get $at)))
            (f64x2.splat (f64.const 0.9)))
          (f64x2.mul (local.get $slope) (f64x2.splat (f64.const 0.1)))))
      (local.set $v
        (f64x2.add
          (f64x2.mul
            (f64x2.promote_low_f32x4 (v128.load64_zero offset=25165824 (local.get $at)))
            (f64x2.splat (f64.const 0.999)))
          (f64x2.mul (f64x2.mul (local.get $slope) (local.get $slope)) (f64x2.splat (f64.const 0.001)))))
      (v128.store64_lane offset=20971520 0 (local.get $at) (f32x4.demote_f64x2_zero (local.get $m)))
      (v128.store64_lane offset=25165824 0 (local.get $at) (f32x4.demote_f64x2_zero (local.get $v)))
      (local.set $x
        (f32x4.demote_f64x2_zero
          (f64x2.sub
            (f64x2.promote_low_f32x4 (v128.load64_zero offset=16777216 (local.get $at)))
            (f64x2.div
              (f64x2.mul (local.get $m) (f64x2.splat (local.get $rate)))
              (f64x2.add
                (f64x2.sqrt (f64x2.div (local.get $v) (f64x2.splat (local.get $squareLeft))))
                (f64x2.splat (f64.const 1e-8)))))))
      (v128.store64_lane offset=16777216 0 (local.get $at) (local.get $x))
      ;; exp(−x) for x within ±30: 2^k · p(r), r = −x − k · ln 2 in two parts, p of degree 8.
      (local.set $x
        (f64x2.neg
          (f64x2.pmin
            (f64x2.splat (f64.const 30))
            (f64x2.pmax (f64x2.splat (f64.const -30)) (f64x2.promote_low_f32x4 (local.get $x))))))
      (local.set $k (f64x2.nearest (f64x2.mul (local.get $x) (f64x2.splat (f64.const 1.4426950408889634)))))
      (local.set $r
        (f64x2.sub
          (f64x2.sub (local.get $x) (f64x2.mul (local.get $k) (f64x2.splat (f64.const 0.6931471803691238))))
          (f64x2.mul (local.get $k) (f64x2.splat (f64.const 1.9082149292705877e-10)))))
      (local.set $p (f64x2.splat (f64.const 2.48015873015873e-05)))
      (local.set $p (f64x2.add (f64x2.mul (local.get $p) (local.get $r)) (f64x2.splat (f64.const 1.984126984126984e-04))))
      (local.set $p (f64x2.add (f64x2.mul (local.get $p) (local.get $r)) (f64x2.splat (f64.const 1.388888888888889e-03))))
      (local.set $p (f64x2.add (f64x2.mul (local.get $p) (local.get $r)) (f64x2.splat (f64.const 8.333333333333333e-03))))
      (local.set $p (f64x2.add (f64x2.mul (local.get $p) (local.get $r)) (f64x2.splat (f64.const 4.1666666666666664e-02))))
      (local.set $p (f64x2.add (f64x2.mul (local.get $p) (local.get $r)) (f64x2.splat (f64.const 0.16666666666666666))))
      (local.set $p (f64x2.add (f64x2.mul (local.get $p) (local.get $r)) (f64x2.splat (f64.const 0.5))))
      (local.set $p (f64x2.add (f64x2.mul (local.get $p) (local.get $r)) (f64x2.splat (f64.const 1))))
      (local.set $p (f64x2.add (f64x2.mul (local.get $p) (local.get $r)) (f64x2.splat (f64.const 1))))
      ;; s = 1 / (1 + exp(−x)), rounded; 2^k by its exponent bits.
      (local.set $s
        (f32x4.demote_f64x2_zero
          (f64x2.div
            (f64x2.splat (f64.const 1))
            (f64x2.add
              (f64x2.splat (f64.const 1))
              (f64x2.mul
                (local.get $p)
                (i64x2.shl
                  (i64x2.add
                    (i64x2.extend_low_i32x4_s (i32x4.trunc_sat_f64x2_s_zero (local.get $k)))
                    (i64x2.splat (i64.const 1023)))
                  (i32.const 52)))))))
      (v128.store64_lane offset=29360128 0 (local.get $at) (local.get $s))
      ;; difference = base + share · step, with the share of the new sigmoid.
      (local.set $share
        (f64x2.pmin
          (f64x2.splat (f64.const 1))
          (f64x2.pmax
            (f64x2.splat (f64.const 0))
            (f64x2.sub
              (f64x2.mul (f64x2.promote_low_f32x4 (local.get $s)) (f64x2.splat (f64.const 1.2)))
              (f64x2.splat (f64.const 0.1))))))
      (v128.store64_lane offset=33554432 0
        (local.get $at)
        (f32x4.demote_f64x2_zero
          (f64x2.add
            (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $at)))
            (f64x2.mul
              (local.get $share)
              (f64x2.promote_low_f32x4 (v128.load64_zero offset=4194304 (local.get $at)))))))
      (br_if $loop (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (local.get $end))))))
