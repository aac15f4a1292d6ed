import { expect, test } from '@jest/globals';
import { mailOf, slackBody } from '../../../src/webhooks/delivery.rules.js';

const hostile = {
  haulerId: 'h',
  connectionId: 'c',
  truckId: `a\r\nBcc: x@example.com\u202e<!channel>*b*${'x'.repeat(500)}`,
};
const event = { topic: 'recording.at_risk', data: JSON.stringify(hostile), created_at: new Date() } as const;

test('names of partners cannot make headers, lines, mentions or long texts', () => {
  const { subject, text: mail } = mailOf(event, 'https://haul.example');
  expect(subject).toBe('haulbridge: recording.at_risk');
  const [line = '', page = '', ...others] = mail.split('\n');
  expect(line).toContain('a Bcc: x@example.com <!channel>');
  expect(line.length).toBeLessThan(200);
  expect(new URL(page).searchParams.get('truckId')).toBe(hostile.truckId);
  expect(others).toEqual(['']);
  expect(mail).not.toContain('\u202e');
  const { text: slack } = JSON.parse(slackBody(event, undefined)) as { text: string };
  expect(slack).not.toMatch(/<!channel>|\n|\u202e/);
  expect(slack).toContain('&lt;!channel&gt;');
});
