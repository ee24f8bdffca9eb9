/** Set-up of every file in e2e/. Hooks belong to a file, but a worker loads shared-till.ts only once. */
import { afterEach, beforeEach } from 'vitest'
import { beginTest, endTest } from './shared-till.ts'

beforeEach(beginTest)
afterEach(({ task }) => endTest({ hasFailed: task.result?.state === 'fail' }))
