import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { E2E_WORKERS } from './e2e/workers.ts'

const gatewaySetup = ['gateway/testing/setup.ts']
// Whole processes and browsers have deadlines of real life, so nothing else runs beside them.
const AFTER_UNITS = { groupOrder: 1 }
const LAST = { groupOrder: 2 }

/** By their size they would begin last, and the rest of the machine would wait for them. */
const LONG = [
  ...['accessibility', 'kill', 'resilience', 'outcomes', 'start'].map((name) => `e2e/${name}.test.ts`),
  ...['real', 'kill-rounds', 'kill-worker'].map((name) => `proofs/${name}.test.ts`),
  ...['steam/failures', 'main', 'bots/two-gateways', 'bots/runner'].map((name) => `gateway/${name}.test.ts`),
]

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => LONG.some((name) => moduleId.endsWith(`/${name}`))
    const sorted = await super.sort(files)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

export default defineConfig({
  test: {
    // They wait more than they compute.
    maxWorkers: 3,
    sequence: { sequencer: LongFirst },
    projects: [
      { test: { name: 'unit', include: ['contract/**/*.test.ts', 'scripts/**/*.test.ts', '*.test.ts'] } },
      {
        test: {
          name: 'gateway',
          include: ['gateway/**/*.test.ts'],
          globalSetup: gatewaySetup,
          testTimeout: 20_000,
          hookTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'sandbox',
          include: ['steam-sandbox/**/*.test.ts', 'demo-store/**/*.test.ts'],
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'proofs',
          include: ['proofs/**/*.test.ts'],
          globalSetup: gatewaySetup,
          testTimeout: 180_000,
          hookTimeout: 60_000,
          sequence: AFTER_UNITS,
          maxWorkers: 2,
        },
      },
      // Style sheets are empty in tests, but for the colours.
      { test: { name: 'widget', include: ['widget/**/*.test.{ts,tsx}'], css: { include: [/tokens\.css/] } } },
      {
        test: {
          name: 'e2e',
          include: ['e2e/**/*.test.ts'],
          globalSetup: ['e2e/setup.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // What a page does when nothing better is to do takes its time beside two others.
          expect: { poll: { timeout: 15_000 } },
          sequence: LAST,
          maxWorkers: E2E_WORKERS,
        },
      },
    ],
  },
})
