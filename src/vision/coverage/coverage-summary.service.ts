import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type {
  CameraCoverage,
  CoverageCause,
  CoverageSummary,
  CoverageSummaryQuery,
} from '../../contracts/admin/coverage.dto.js';
import { epochMillis, formatInstant, instantOf } from '../../contracts/common/instant.js';
import { invalid } from '../../core/errors/app-error.js';
import { unknownConnection, VisionConnections } from '../client/vision-connections.repository.js';
import { CoveragePieces } from './coverage-pieces.service.js';
import { type CoveredCamera, CoverageRepository } from './coverage.repository.js';
import {
  isLost,
  isUnread,
  mapSeconds,
  type Piece,
  rangeViolations,
  SIDES,
  type StateSeconds,
} from './coverage.rules.js';

/** Read at once: of a truck with many recordings, a month has more than memory should hold. */
const SLICE_MS = 86_400_000;

/** Milliseconds of each state, and of each cause; a failed or unread one is also missing. */
interface Sums {
  readonly states: Record<keyof StateSeconds, number>;
  readonly causes: Map<CoverageCause, number>;
}

/** Why footage of a truck is missing, by camera: what its intervals add up to. */
@Injectable()
export class CoverageSummaries {
  constructor(
    private readonly pieces: CoveragePieces,
    private readonly coverage: CoverageRepository,
    private readonly connections: VisionConnections,
  ) {}

  /** 400 with every violation. */
  async of(query: CoverageSummaryQuery): Promise<CoverageSummary> {
    const violations = rangeViolations(query);
    if (!(await this.connections.exists(query.connectionId))) violations.push(unknownConnection());
    if (violations.length > 0) throw invalid(violations);
    const cameras = await this.pieces.cameras(query);
    const sums = await this.sums(query, cameras);
    const times = await this.coverage.lastRecorded(cameras, query.to);
    const data = cameras.map((camera, i) => toDto(camera, sums[i] ?? noSums(), times[i]));
    return { data: data.sort((one, other) => other.lost - one.lost) };
  }

  private async sums(query: CoverageSummaryQuery, cameras: readonly CoveredCamera[]): Promise<Sums[]> {
    const sums = cameras.map(noSums);
    const [from, to] = [epochMillis(query.from), epochMillis(query.to)];
    for (let start = from; start < to; start += SLICE_MS) {
      const slice = {
        ...query,
        from: instantOf(new Date(start)),
        to: instantOf(new Date(Math.min(start + SLICE_MS, to))),
      };
      for (const [i, piecesOf] of (await this.pieces.of(slice, cameras)).entries()) {
        for (const piece of piecesOf().pieces) add(sums[i] ?? noSums(), piece);
        await yieldToEventLoop();
      }
    }
    return sums;
  }
}

const noSums = (): Sums => ({
  states: { stored: 0, available: 0, expired: 0, missing: 0, failed: 0, lost: 0, unread: 0, future: 0 },
  causes: new Map(),
});

function add({ states, causes }: Sums, piece: Piece): void {
  const { start, end, state, cause } = piece;
  const shown: (keyof StateSeconds | false)[] = [
    cause === 'future' ? cause : state,
    isLost(piece) && 'lost',
    isLost(piece) && state === 'missing' && 'failed',
    isUnread(piece) && 'unread',
  ];
  for (const each of shown) if (each !== false) states[each] += end - start;
  if (cause !== undefined) causes.set(cause, (causes.get(cause) ?? 0) + end - start);
}

function toDto({ name, names }: CoveredCamera, { states, causes }: Sums, at: Date | undefined): CameraCoverage {
  return {
    ...(name === undefined ? {} : { cameraId: name }),
    names: [...names].sort(),
    ...(at === undefined ? {} : { lastRecordedAt: formatInstant(at) }),
    ...mapSeconds(states, (milliseconds) => milliseconds / 1000),
    causes: [...causes]
      .map(([cause, milliseconds]) => ({ cause, side: SIDES[cause], seconds: milliseconds / 1000 }))
      .sort((one, other) => other.seconds - one.seconds),
  };
}
