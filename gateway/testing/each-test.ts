/** Set-up of every test file: keeps the evidence of a test that fails. */
import { afterAll, afterEach, beforeEach, type TestContext } from 'vitest'
import { failureFolder, markEvidence, writeEvidence } from './evidence.ts'

/** Names from the outermost suite to the test itself. */
function namesOf(task: TestContext['task']): string[] {
  const names = [task.name]
  for (let suite = task.suite; suite !== undefined; suite = suite.suite) names.unshift(suite.name)
  return names
}

// Evidence that is offered before the first test stays for the entire file.
const forgetFile = markEvidence()
afterAll(forgetFile)

beforeEach(() => {
  const forgetTest = markEvidence()
  return forgetTest
})
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await writeEvidence(failureFolder(task.file.filepath, namesOf(task)))
})
