/** The pages of the admin console below `/console`, with their titles, in the order of its navigation. */
export const CONSOLE_PAGES = {
  '': 'Home',
  coverage: 'Coverage',
  recordings: 'Recordings',
  clips: 'Clip requests',
  holds: 'Holds',
  retention: 'Retention',
  sync: 'Synchronisation',
  tickets: 'Tickets',
  accounts: 'Accounts',
  reports: 'Reports',
  exchanges: 'Exchanges',
  haulers: 'Haulers',
  connections: 'Connections',
  keys: 'API keys',
  webhooks: 'Webhooks',
  sandbox: 'Sandbox',
  actions: 'Actions',
  sessions: 'Sessions',
} as const;

export type ConsolePage = keyof typeof CONSOLE_PAGES;
