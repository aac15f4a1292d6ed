/** The hauler of the demo, which is also the customer of its videos. Faults of the sandbox hurt nobody there. */
export const DEMO_HAULER_ID = '5f0c1f2e-7a3b-4c8d-9e10-112233445566';
