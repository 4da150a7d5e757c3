;; Kernels of roi-align-kernel.ts: RoIAlign of eight channels at a time. `roiAlignInto` in roi-align.ts defines the results.
;; Memory, in bytes:
;;        0  points of the x axis, then, from 65536 on, of the y axis
;;   131072  table of sampling points, 32 bytes each: the places of four cells (i32), their weights (f32)
;;  2228224  pooled values, channel by channel
;;  3276800  planes of the feature map as they come
;; 20054016  the map with the channels of a cell side by side
(module
  (memory (export "memory") 562 562)

  ;; Copies four planes to cells: four cells at a time, the values of four channels become neighbors (a 4 x 4 transposition).
  ;; Values read past the end of a plane are written past the last cell.
  (func (export "lay")
    (param $from i32) (param $end i32) (param $planeBytes i32) (param $to i32) (param $cellBytes i32)
    (local $plane i32) (local $a v128) (local $b v128) (local $c v128) (local $d v128) (local $low v128) (local $high v128)
    (loop $loop
      (local.set $a (v128.load (local.tee $plane (local.get $from))))
      (local.set $b (v128.load (local.tee $plane (i32.add (local.get $plane) (local.get $planeBytes)))))
      (local.set $c (v128.load (local.tee $plane (i32.add (local.get $plane) (local.get $planeBytes)))))
      (local.set $d (v128.load (i32.add (local.get $plane) (local.get $planeBytes))))
      (local.set $low (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $a) (local.get $b)))
      (local.set $high (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31 (local.get $a) (local.get $b)))
      (local.set $a (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $c) (local.get $d)))
      (local.set $b (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31 (local.get $c) (local.get $d)))
      (v128.store (local.get $to) (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $low) (local.get $a)))
      (local.set $to (i32.add (local.get $to) (local.get $cellBytes)))
      (v128.store
        (local.get $to)
        (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $low) (local.get $a)))
      (local.set $to (i32.add (local.get $to) (local.get $cellBytes)))
      (v128.store (local.get $to) (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $high) (local.get $b)))
      (local.set $to (i32.add (local.get $to) (local.get $cellBytes)))
      (v128.store
        (local.get $to)
        (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $high) (local.get $b)))
      (local.set $to (i32.add (local.get $to) (local.get $cellBytes)))
      (br_if $loop (i32.lt_u (local.tee $from (i32.add (local.get $from) (i32.const 16))) (local.get $end)))))

  ;; Writes the table of points: bin by bin, and inside a bin row by row, which is the order of its sum.
  ;; A point adds the places of both axes and multiplies their weights.
  (func (export "fill")
    (param $rows i32) (param $rowsEnd i32) (param $columns i32) (param $columnsEnd i32) (param $rowBytes i32)
    (param $columnBytes i32) (param $to i32)
    (local $firstColumn i32) (local $column i32) (local $row i32) (local $columnEnd i32) (local $rowEnd i32)
    (local $places v128) (local $weights v128)
    (loop $loop
      (local.set $firstColumn (local.get $columns))
      (local.set $rowEnd (i32.add (local.get $rows) (local.get $rowBytes)))
      (loop $loop1
        (local.set $columnEnd (i32.add (local.get $firstColumn) (local.get $columnBytes)))
        (local.set $row (local.get $rows))
        (loop $loop2
          (local.set $places (v128.load (local.get $row)))
          (local.set $weights (v128.load offset=16 (local.get $row)))
          (local.set $column (local.get $firstColumn))
          (loop $loop3
            (v128.store (local.get $to) (i32x4.add (local.get $places) (v128.load (local.get $column))))
            (v128.store offset=16
              (local.get $to)
              (f32x4.mul (local.get $weights) (v128.load offset=16 (local.get $column))))
            (local.set $to (i32.add (local.get $to) (i32.const 32)))
            (br_if $loop3
              (i32.lt_u (local.tee $column (i32.add (local.get $column) (i32.const 32))) (local.get $columnEnd))))
          (br_if $loop2 (i32.lt_u (local.tee $row (i32.add (local.get $row) (i32.const 32))) (local.get $rowEnd))))
        (br_if $loop1
          (i32.lt_u
            (local.tee $firstColumn (i32.add (local.get $firstColumn) (local.get $columnBytes)))
            (local.get $columnsEnd))))
      (br_if $loop (i32.lt_u (local.tee $rows (i32.add (local.get $rows) (local.get $rowBytes))) (local.get $rowsEnd)))))

  ;; For every group of eight channels and every bin: the mean of the weighted cells of its points.
  (func (export "pool")
    (param $table i32) (param $end i32) (param $pointsBytes i32) (param $groups i32) (param $binBytes i32)
    (param $count f32)
    (local $point i32) (local $pointEnd i32) (local $base i32) (local $place i32) (local $out i32) (local $lane i32)
    (local $weight v128) (local $sum v128) (local $upperSum v128) (local $term v128) (local $upperTerm v128)
    (local.set $base (i32.const 20054016))
    (local.set $out (i32.const 2228224))
    (loop $loop
      (local.set $point (local.get $table))
      (loop $loop1
        (local.set $upperSum (local.tee $sum (i32x4.splat (i32.const 0))))
        (local.set $pointEnd (i32.add (local.get $point) (local.get $pointsBytes)))
        (loop $loop2
          ;; Top left cell.
          (local.set $place (i32.add (i32.load (local.get $point)) (local.get $base)))
          (local.set $weight (v128.load32_splat offset=16 (local.get $point)))
          (local.set $term (f32x4.mul (local.get $weight) (v128.load (local.get $place))))
          (local.set $upperTerm (f32x4.mul (local.get $weight) (v128.load offset=16 (local.get $place))))
          ;; Top right cell.
          (local.set $place (i32.add (i32.load offset=4 (local.get $point)) (local.get $base)))
          (local.set $weight (v128.load32_splat offset=20 (local.get $point)))
          (local.set $term (f32x4.add (local.get $term) (f32x4.mul (local.get $weight) (v128.load (local.get $place)))))
          (local.set $upperTerm
            (f32x4.add (local.get $upperTerm) (f32x4.mul (local.get $weight) (v128.load offset=16 (local.get $place)))))
          ;; Bottom left cell.
          (local.set $place (i32.add (i32.load offset=8 (local.get $point)) (local.get $base)))
          (local.set $weight (v128.load32_splat offset=24 (local.get $point)))
          (local.set $term (f32x4.add (local.get $term) (f32x4.mul (local.get $weight) (v128.load (local.get $place)))))
          (local.set $upperTerm
            (f32x4.add (local.get $upperTerm) (f32x4.mul (local.get $weight) (v128.load offset=16 (local.get $place)))))
          ;; Bottom right cell.
          (local.set $place (i32.add (i32.load offset=12 (local.get $point)) (local.get $base)))
          (local.set $weight (v128.load32_splat offset=28 (local.get $point)))
          (local.set $term (f32x4.add (local.get $term) (f32x4.mul (local.get $weight) (v128.load (local.get $place)))))
          (local.set $upperTerm
            (f32x4.add (local.get $upperTerm) (f32x4.mul (local.get $weight) (v128.load offset=16 (local.get $place)))))
          (local.set $sum (f32x4.add (local.get $sum) (local.get $term)))
          (local.set $upperSum (f32x4.add (local.get $upperSum) (local.get $upperTerm)))
          (br_if $loop2 (i32.lt_u (local.tee $point (i32.add (local.get $point) (i32.const 32))) (local.get $pointEnd))))
        ;; Means of channels 0 to 3.
        (local.set $lane (local.get $out))
        (local.set $sum (f32x4.div (local.get $sum) (f32x4.splat (local.get $count))))
        (v128.store32_lane 0 (local.get $lane) (local.get $sum))
        (local.set $lane (i32.add (local.get $lane) (local.get $binBytes)))
        (v128.store32_lane 1 (local.get $lane) (local.get $sum))
        (local.set $lane (i32.add (local.get $lane) (local.get $binBytes)))
        (v128.store32_lane 2 (local.get $lane) (local.get $sum))
        (local.set $lane (i32.add (local.get $lane) (local.get $binBytes)))
        (v128.store32_lane 3 (local.get $lane) (local.get $sum))
        (local.set $lane (i32.add (local.get $lane) (local.get $binBytes)))
        ;; Means of channels 4 to 7.
        (local.set $upperSum (f32x4.div (local.get $upperSum) (f32x4.splat (local.get $count))))
        (v128.store32_lane 0 (local.get $lane) (local.get $upperSum))
        (local.set $lane (i32.add (local.get $lane) (local.get $binBytes)))
        (v128.store32_lane 1 (local.get $lane) (local.get $upperSum))
        (local.set $lane (i32.add (local.get $lane) (local.get $binBytes)))
        (v128.store32_lane 2 (local.get $lane) (local.get $upperSum))
        (local.set $lane (i32.add (local.get $lane) (local.get $binBytes)))
        (v128.store32_lane 3 (local.get $lane) (local.get $upperSum))
        (local.set $lane (i32.add (local.get $lane) (local.get $binBytes)))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (br_if $loop1 (i32.lt_u (local.get $point) (local.get $end))))
      ;; The bins moved $out by one channel; the next group is seven further.
      (local.set $base (i32.add (local.get $base) (i32.const 32)))
      (local.set $out (i32.add (local.get $out) (local.get $binBytes)))
      (local.set $out (i32.add (local.get $out) (local.get $binBytes)))
      (local.set $out (i32.add (local.get $out) (local.get $binBytes)))
      (local.set $out (i32.add (local.get $out) (local.get $binBytes)))
      (local.set $out (i32.add (local.get $out) (local.get $binBytes)))
      (local.set $out (i32.add (local.get $out) (local.get $binBytes)))
      (local.set $out (i32.add (local.get $out) (local.get $binBytes)))
      (br_if $loop (i32.ne (local.tee $groups (i32.sub (local.get $groups) (i32.const 1))) (i32.const 0))))))
