/**
 * Registers the hooks of every test file in e2e/. shared-till.ts cannot do that: hooks belong to a file, but a worker
 * loads that module only once.
 */
import { afterEach, beforeEach } from 'vitest'
import { beginTest, endTest } from './shared-till.ts'

beforeEach(beginTest)
afterEach(({ task }) => endTest({ hasFailed: task.result?.state === 'fail' }))
