;; Kernel of nms-kernel.ts: which boxes overlap a given box by more than a threshold. `coverPlainly` defines the results.
;; Memory: six lists of 65536 bytes, one number per box: x1, y1, x2, y2, area (f32), and whether the box is suppressed (i32, -1 or 0).
(module
  (memory (export "memory") 6 6)

  ;; Marks each box from byte $from to $end of the lists whose IoU with the box at byte $box is above $threshold. Disjoint boxes share 0.
  (func (export "cover")
    (param $box i32) (param $from i32) (param $end i32) (param $threshold f32)
    (local $x1 v128) (local $y1 v128) (local $x2 v128) (local $y2 v128) (local $area v128) (local $shared v128)
    ;; The box itself, in all four lanes.
    (local.set $x1 (v128.load32_splat (local.get $box)))
    (local.set $y1 (v128.load32_splat offset=65536 (local.get $box)))
    (local.set $x2 (v128.load32_splat offset=131072 (local.get $box)))
    (local.set $y2 (v128.load32_splat offset=196608 (local.get $box)))
    (local.set $area (v128.load32_splat offset=262144 (local.get $box)))
    (loop $loop
      ;; Intersection: the width, at least 0, times the height, at least 0.
      (local.set $shared
        (f32x4.mul
          (f32x4.max
            (f32x4.sub
              (f32x4.min (local.get $x2) (v128.load offset=131072 (local.get $from)))
              (f32x4.max (local.get $x1) (v128.load (local.get $from))))
            (i32x4.splat (i32.const 0)))
          (f32x4.max
            (f32x4.sub
              (f32x4.min (local.get $y2) (v128.load offset=196608 (local.get $from)))
              (f32x4.max (local.get $y1) (v128.load offset=65536 (local.get $from))))
            (i32x4.splat (i32.const 0)))))
      ;; IoU above the threshold, or suppressed before.
      (v128.store offset=327680
        (local.get $from)
        (v128.or
          (v128.load offset=327680 (local.get $from))
          (f32x4.gt
            (f32x4.div
              (local.get $shared)
              (f32x4.sub (f32x4.add (local.get $area) (v128.load offset=262144 (local.get $from))) (local.get $shared)))
            (f32x4.splat (local.get $threshold)))))
      (br_if $loop (i32.lt_u (local.tee $from (i32.add (local.get $from) (i32.const 16))) (local.get $end))))))
