import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { JobsService } from '../../src/jobs/jobs.service.js';
import { startTestApp, type TestApp } from '../support/app.js';

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

const metrics = (token = service.env.ADMIN_TOKEN) =>
  service.call<string>('GET', '/metrics', { headers: { Authorization: `Bearer ${token}` } });

describe('/metrics', () => {
  it('needs the admin token', async () => {
    expect((await service.call('GET', '/metrics')).status).toBe(401);
    expect((await metrics('another-token-altogether')).status).toBe(401);
  });

  it('contains latency by route and status, the pool, the event loop, and the work of the jobs', async () => {
    await service.call('GET', '/health/ready');
    await service.call('GET', '/admin/v1/haulers/019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d');
    await service.call('GET', '/nowhere/at/all');
    const { status, headers, text } = await metrics();
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(text).toContain('http_request_duration_seconds_count{method="GET",route="/health/ready",status="200"} 1');
    expect(text).toContain('route="/admin/v1/haulers/:id",status="401"');
    expect(text).toContain('route="none",status="404"');
    expect(text).toMatch(/database_pool_connections\{state="open"\} [1-9]/);
    expect(text).toMatch(/hot_path_pool_connections\{state="open"\} [1-9]/);
    expect(text).toContain('hot_path_pool_connections{state="waiting"} 0');
    expect(text).toContain('tickets_waiting{unit="pushes"} 0');
    expect(text).toContain('request_bodies_receiving_bytes 0');
    expect(text).toContain('overload_refusals_total{reason="tickets"} 0');
    expect(text).toContain('nodejs_eventloop_lag_seconds');
    expect(text).toMatch(/work_running\{kind="[^"]+"\} 0/);
  });

  it('contains the other metrics if the age of due work is not available', async () => {
    const waited = /^work_oldest_due_seconds\{/m;
    expect((await metrics()).text).toMatch(waited);
    jest.spyOn(service.app.get(JobsService), 'oldestDue').mockRejectedValueOnce(new Error('unavailable'));
    const { status, text } = await metrics();
    expect(status).toBe(200);
    expect(text).toContain('database_pool_connections');
    expect(text).not.toMatch(waited);
    expect((await metrics()).text).toMatch(waited);
  });
});
