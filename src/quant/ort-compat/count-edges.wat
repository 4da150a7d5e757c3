;; Kernel of ort-kernel.ts: counts elements between bin edges as numpy.histogram does. `countEdgesScalar` in ort-histogram.ts defines the results.
;; Memory, in bytes:
;;      0  the edges (f32)
;;  16400  tables of counts (i32), one per lane, 16392 bytes each; slot 0 of each lies before the first bin
;; 128 Ki  the elements
(module
  (memory (export "memory") 3 3)

  ;; Counts the elements from $pointer to $end, a multiple of 16 bytes, at least one group. $mask: 0x7fffffff for magnitudes, -1 for values.
  (func (export "count")
    (param $pointer i32) (param $end i32) (param $first f32) (param $span f32) (param $bins f32) (param $lastBin i32)
    (param $mask i32)
    (local $x v128) (local $guess v128) (local $bin i32) (local $afterLast i32)
    (local.set $afterLast (i32.add (local.get $lastBin) (i32.const 1)))
    (loop $loop
      (local.set $x (v128.and (v128.load (local.get $pointer)) (i32x4.splat (local.get $mask))))
      ;; A first guess of the bin, kept between 0 and $lastBin. Rounding may put it one off: the edges decide.
      (local.set $guess
        (i32x4.max_s
          (i32x4.min_s
            (i32x4.trunc_sat_f32x4_s
              (f32x4.mul
                (f32x4.div (f32x4.sub (local.get $x) (f32x4.splat (local.get $first))) (f32x4.splat (local.get $span)))
                (f32x4.splat (local.get $bins))))
            (i32x4.splat (local.get $lastBin)))
          (i32x4.splat (i32.const 0))))
      ;; Lane 0: bin -= x < edges[bin].
      (local.set $bin (i32x4.extract_lane 0 (local.get $guess)))
      (local.set $bin
        (i32.sub
          (local.get $bin)
          (f32.lt (f32x4.extract_lane 0 (local.get $x)) (f32.load (i32.shl (local.get $bin) (i32.const 2))))))
      ;; bin += x >= edges[bin + 1] and bin is not the last one. From here $bin is one higher, because it may have been -1.
      (local.set $bin
        (i32.add
          (local.tee $bin (i32.add (local.get $bin) (i32.const 1)))
          (i32.and
            (f32.ge (f32x4.extract_lane 0 (local.get $x)) (f32.load (i32.shl (local.get $bin) (i32.const 2))))
            (i32.ne (local.get $bin) (local.get $afterLast)))))
      (i32.store offset=16400
        (i32.shl (local.get $bin) (i32.const 2))
        (i32.add (i32.load offset=16400 (i32.shl (local.get $bin) (i32.const 2))) (i32.const 1)))
      ;; Lane 1.
      (local.set $bin (i32x4.extract_lane 1 (local.get $guess)))
      (local.set $bin
        (i32.sub
          (local.get $bin)
          (f32.lt (f32x4.extract_lane 1 (local.get $x)) (f32.load (i32.shl (local.get $bin) (i32.const 2))))))
      (local.set $bin
        (i32.add
          (local.tee $bin (i32.add (local.get $bin) (i32.const 1)))
          (i32.and
            (f32.ge (f32x4.extract_lane 1 (local.get $x)) (f32.load (i32.shl (local.get $bin) (i32.const 2))))
            (i32.ne (local.get $bin) (local.get $afterLast)))))
      (i32.store offset=32792
        (i32.shl (local.get $bin) (i32.const 2))
        (i32.add (i32.load offset=32792 (i32.shl (local.get $bin) (i32.const 2))) (i32.const 1)))
      ;; Lane 2.
      (local.set $bin (i32x4.extract_lane 2 (local.get $guess)))
      (local.set $bin
        (i32.sub
          (local.get $bin)
          (f32.lt (f32x4.extract_lane 2 (local.get $x)) (f32.load (i32.shl (local.get $bin) (i32.const 2))))))
      (local.set $bin
        (i32.add
          (local.tee $bin (i32.add (local.get $bin) (i32.const 1)))
          (i32.and
            (f32.ge (f32x4.extract_lane 2 (local.get $x)) (f32.load (i32.shl (local.get $bin) (i32.const 2))))
            (i32.ne (local.get $bin) (local.get $afterLast)))))
      (i32.store offset=49184
        (i32.shl (local.get $bin) (i32.const 2))
        (i32.add (i32.load offset=49184 (i32.shl (local.get $bin) (i32.const 2))) (i32.const 1)))
      ;; Lane 3.
      (local.set $bin (i32x4.extract_lane 3 (local.get $guess)))
      (local.set $bin
        (i32.sub
          (local.get $bin)
          (f32.lt (f32x4.extract_lane 3 (local.get $x)) (f32.load (i32.shl (local.get $bin) (i32.const 2))))))
      (local.set $bin
        (i32.add
          (local.tee $bin (i32.add (local.get $bin) (i32.const 1)))
          (i32.and
            (f32.ge (f32x4.extract_lane 3 (local.get $x)) (f32.load (i32.shl (local.get $bin) (i32.const 2))))
            (i32.ne (local.get $bin) (local.get $afterLast)))))
      (i32.store offset=65576
        (i32.shl (local.get $bin) (i32.const 2))
        (i32.add (i32.load offset=65576 (i32.shl (local.get $bin) (i32.const 2))) (i32.const 1)))
      (br_if $loop (i32.lt_u (local.tee $pointer (i32.add (local.get $pointer) (i32.const 16))) (local.get $end))))))
