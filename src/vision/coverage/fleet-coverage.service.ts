import { Injectable } from '@nestjs/common';
import type { List } from '../../contracts/admin/list.dto.js';
import type { FleetCoverageQuery, TruckDayCoverage } from '../../contracts/admin/recording.dto.js';
import { epochMillis } from '../../contracts/common/instant.js';
import { pageRequest, paginationOf } from '../../contracts/common/pagination.dto.js';
import { invalid } from '../../errors/app-error.js';
import { CoverageBuckets, CoverageRepository } from './coverage.repository.js';
import { type BucketGrid, bucketCount, sumOf, rangeViolations } from './coverage.rules.js';

const DAY_MS = 86_400_000;

/** What exists of all trucks of a hauler, by day. */
@Injectable()
export class FleetCoverage {
  constructor(
    private readonly coverage: CoverageRepository,
    private readonly buckets: CoverageBuckets,
  ) {}

  /** By truck and then by day. Reads the recordings of the page's trucks only. */
  async list(query: FleetCoverageQuery): Promise<List<TruckDayCoverage>> {
    const violations = rangeViolations(query);
    if (violations.length > 0) throw invalid(violations);
    const [fromMs, toMs] = [epochMillis(query.from), epochMillis(query.to)];
    const grid = { originMs: Math.floor(fromMs / DAY_MS) * DAY_MS, stepMs: DAY_MS, fromMs, toMs };
    const days = bucketCount(grid);
    const trucks = await this.coverage.trucks(query);
    const page = pageRequest(query);
    const [first, end] = [page.offset, page.offset + page.pageSize];
    const firstTruck = Math.floor(first / days);
    const shown = trucks.slice(firstTruck, Math.ceil(end / days));
    const rows = await this.truckDays(shown, query, grid);
    const skipped = firstTruck * days;
    return { data: rows.slice(first - skipped, end - skipped), pagination: paginationOf(page, trucks.length * days) };
  }

  private async truckDays(
    trucks: Parameters<CoverageRepository['cameras']>[0],
    query: FleetCoverageQuery,
    grid: BucketGrid,
  ): Promise<TruckDayCoverage[]> {
    const cameras = await this.coverage.cameras(trucks, query);
    const listed = trucks.flatMap((truck, i) =>
      (cameras[i] ?? []).map(({ names }) => ({ ...truck, names: [...names] })),
    );
    const seconds = await this.buckets.of(listed, grid);
    let done = 0;
    return trucks.flatMap(({ connectionId, truckId }, i) => {
      const count = cameras[i]?.length ?? 0;
      const own = seconds.slice(done, (done += count));
      return Array.from({ length: bucketCount(grid) }, (_, day) => ({
        connectionId,
        truckId,
        day: new Date(grid.originMs + day * DAY_MS).toISOString().slice(0, 10),
        cameras: count,
        ...sumOf(own.flatMap((buckets) => buckets[day] ?? [])),
      }));
    });
  }
}
