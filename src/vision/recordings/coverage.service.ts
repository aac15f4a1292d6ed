import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Coverage, CoverageInterval, CoverageQuery } from '../../contracts/admin/recording.dto.js';
import { epochMillis, formatInstant } from '../../contracts/common/instant.js';
import type { Violation } from '../../contracts/common/violation.js';
import { invalid } from '../../errors/app-error.js';
import { Breather } from '../../chunked-work/breather.js';
import { camerasOf, namesOf } from '../camera-names.js';
import { namePairsOf } from '../camera-names.store.js';
import type { RecordingState } from '../downloads/recording-states.js';
import { noConnection, VisionConnections } from '../vision-connections.js';
import { type CoverageState, eachCovered, type Followed, gapsOf, type Piece } from './coverage.js';

const LONGEST_MS = 31 * 86_400_000;

const STATES: Readonly<Record<RecordingState, CoverageState>> = {
  stored: 'stored',
  available: 'available',
  downloading: 'available',
  expired: 'expired',
  failed: 'missing',
};

interface RecordingRow {
  readonly id: string;
  readonly camera_id: string;
  readonly start_time: Date;
  readonly end_time: Date;
  readonly status: RecordingState;
  readonly reason: string | null;
}

interface FollowedRow {
  readonly camera_id: string | null;
  readonly start_time: Date;
  readonly read_until: Date;
  readonly last_error: string | null;
  readonly is_over: boolean;
  readonly holes: readonly { readonly start: string; readonly end: string; readonly reason: string }[];
}

const NOBODYS = { name: undefined, names: new Set<string>() };

/** What there is of a truck's cameras over time (decision 49). */
@Injectable()
export class CoverageService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly connections: VisionConnections,
  ) {}

  /** 400 with every violation. */
  async of(query: CoverageQuery): Promise<Coverage> {
    const [from, to] = [epochMillis(query.from), epochMillis(query.to)];
    const violations = rangeViolations(query);
    if (!(await this.connections.wasKnown(query.connectionId))) violations.push(noConnection());
    if (violations.length > 0) throw invalid(violations);
    const { cameraId } = query;
    const pairs = await namePairsOf(this.dataSource, query.connectionId, query.truckId);
    const names = cameraId === undefined ? null : namesOf(cameraId, pairs);
    const rows = await this.recordings(query, names);
    const followed = await this.followed(query, names);
    const found = new Set([...rows, ...followed].map(({ camera_id }) => camera_id).filter((id) => id !== null));
    const cameras = cameraId === undefined ? camerasOf(found, pairs) : [{ name: cameraId, names: new Set(names) }];
    const data: CoverageInterval[] = [];
    const breather = new Breather();
    // A camera that nobody has heard of has a coverage too: nothing.
    for (const camera of cameras.length === 0 ? [NOBODYS] : cameras) {
      const pieces = rows.filter(({ camera_id }) => camera.names.has(camera_id)).map(pieceOf);
      const watched = followed
        .filter(({ camera_id }) => camera_id === null || camera.names.has(camera_id))
        .map(followedOf);
      let startTime = formatInstant(new Date(from));
      for (const piece of eachCovered([...pieces, ...gapsOf(watched)], from, to)) {
        const interval = intervalOf(piece, camera.name, startTime);
        data.push(interval);
        // There are no gaps: each interval begins where the one before ended, and a time is written once.
        startTime = interval.endTime;
        if (breather.isDue) await breather.rest();
      }
    }
    return { data };
  }

  private recordings(
    { connectionId, truckId, from, to }: CoverageQuery,
    names: readonly string[] | null,
  ): Promise<RecordingRow[]> {
    return this.dataSource.query(
      `SELECT id, camera_id, start_time, end_time, status, coalesce(reason, last_error) AS reason FROM recordings
       WHERE connection_id = $1 AND truck_id = $2 AND start_time < $4 AND end_time > $3
         AND start_time > $3::timestamptz - interval '31 days' AND ($5::text[] IS NULL OR camera_id = ANY($5))`,
      [connectionId, truckId, from, to, names],
    );
  }

  private followed({ connectionId, truckId }: CoverageQuery, names: readonly string[] | null): Promise<FollowedRow[]> {
    return this.dataSource.query(
      `SELECT camera_id, start_time, read_until, last_error, coalesce((
         SELECT json_agg(json_build_object('start', w.start_time, 'end', w.end_time,
           'reason', coalesce(w.last_error, w.reason, '')))
         FROM video_windows w WHERE w.subscription_id = s.id), '[]') AS holes, NOT EXISTS (
           SELECT 1 FROM connections c
           WHERE (c.hauler_id, c.id) = (s.hauler_id, s.connection_id) AND c.deleted_at IS NULL) AS is_over
       FROM video_subscriptions s
       WHERE connection_id = $1 AND truck_id = $2 AND deleted_at IS NULL
         AND ($3::text[] IS NULL OR camera_id IS NULL OR camera_id = ANY($3))`,
      [connectionId, truckId, names],
    );
  }
}

function intervalOf(piece: Piece, camera: string | undefined, startTime: string): CoverageInterval {
  return {
    ...(camera === undefined ? {} : { cameraId: camera }),
    startTime,
    endTime: formatInstant(new Date(piece.end)),
    state: piece.state,
    ...(piece.recordingId === undefined ? {} : { recordingId: piece.recordingId }),
    ...(piece.reason === undefined ? {} : { reason: piece.reason }),
  };
}

function rangeViolations({ from, to }: CoverageQuery): Violation[] {
  if (to > from && epochMillis(to) - epochMillis(from) <= LONGEST_MS) return [];
  return [{ path: 'to', rule: 'isRange', message: 'to must be after from, and at most 31 days later' }];
}

function pieceOf({ id, start_time, end_time, status, reason }: RecordingRow): Piece {
  return {
    start: start_time.getTime(),
    end: end_time.getTime(),
    state: STATES[status],
    recordingId: id,
    ...(reason === null || status === 'stored' ? {} : { reason }),
  };
}

function followedOf({ start_time, read_until, last_error, is_over, holes }: FollowedRow): Followed {
  return {
    start: start_time.getTime(),
    readUntil: read_until.getTime(),
    holes: holes.map(({ start, end, reason }) => ({ start: Date.parse(start), end: Date.parse(end), reason })),
    isOver: is_over,
    ...(last_error === null ? {} : { reason: last_error }),
  };
}
