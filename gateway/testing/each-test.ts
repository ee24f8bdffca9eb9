/** Set-up of every test file: keeps the evidence of a test that fails. */
import { afterAll, afterEach, beforeEach, type TestContext } from 'vitest'
import { failureFolder, trackEvidence, writeEvidence } from './evidence.ts'

/** Names from the outermost suite to the test itself. */
function namesOf(task: TestContext['task']): string[] {
  const names = [task.name]
  for (let suite = task.suite; suite !== undefined; suite = suite.suite) names.unshift(suite.name)
  return names
}

// Evidence that is registered before the first test is kept for the entire file.
const withdrawFileEvidence = trackEvidence()
afterAll(withdrawFileEvidence)

beforeEach(() => {
  const withdrawTestEvidence = trackEvidence()
  return withdrawTestEvidence
})
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await writeEvidence(failureFolder(task.file.filepath, namesOf(task)))
})
