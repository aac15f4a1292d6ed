import { Global, Module } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';
import { SITE_API } from '../../contracts/site/site.api.js';
import { OVERLOADS } from '../errors/app-error.js';
import { VISION_API } from '../../contracts/vision/vision.api.js';

/** Buckets of the request duration, in seconds. */
const LATENCY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The metrics of `/metrics`. Each application has its own registry, so that tests can run several. */
export class Metrics {
  readonly registry = new Registry();

  readonly requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Duration of requests by route and status',
    labelNames: ['method', 'route', 'status'],
    buckets: LATENCY_BUCKETS,
    registers: [this.registry],
  });

  readonly sandboxAnswers = this.counter(
    'sandbox_answers_total',
    'Requests on which a scenario of the sandbox acted, which no other metric of requests counts, by scenario',
    ['scenario'],
  );

  readonly tickets = this.counter(
    'tickets_total',
    'Processed ticket pushes by result, also those whose caller had already received 503; refused is 422',
    ['result'],
  );

  readonly overloads = this.counter(
    'overload_refusals_total',
    'Requests refused with 503 because a limit of this instance was reached, by limit',
    ['reason'],
  );

  readonly unavailable = this.counter(
    'unavailable_answers_total',
    'Answers 503 by cause: what the database lacks, the storage, or a limit of this instance',
    ['cause'],
  );

  readonly undeclaredAnswers = this.counter(
    'undeclared_answers_total',
    'Answers with a status that the contract of the operation does not list, which is an error of this service',
    ['operation', 'status'],
  );

  readonly syncRuns = this.counter('sync_runs_total', 'Finished site synchronisation runs by status', ['status']);

  readonly retentionFailures = new Counter({
    name: 'video_retention_failures_total',
    help: 'Runs of the video retention that ended with an error, such as holds that could not be read: what they had not deleted stays',
    registers: [this.registry],
  });

  readonly partnerCalls = this.counter(
    'partner_calls_total',
    'Calls to partners by interface and outcome: ok, the kind of failure after the last attempt, or sandbox for one that a scenario made',
    ['interface', 'outcome'],
  );

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    // Prometheus sees no increase of a series that starts with its first count, and docs/alerts.yml needs these.
    for (const { name } of [SITE_API, VISION_API])
      this.partnerCalls.inc({ interface: name, outcome: 'unauthorized' }, 0);
    for (const cause of ['full', 'read-only', 'storage']) this.unavailable.inc({ cause }, 0);
    for (const reason of OVERLOADS) this.overloads.inc({ reason }, 0);
    for (const status of ['failed', 'held']) this.syncRuns.inc({ status }, 0);
  }

  private counter<const Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }
}

@Global()
@Module({ providers: [Metrics], exports: [Metrics] })
export class ObservabilityModule {}
