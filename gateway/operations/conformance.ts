/** Checks a store's webhook handler, without a till or a database. */
import { CHECKS, type CheckResult, type Options, verifyHandler } from '../conformance/verify.ts'
import { systemClock } from '../kit/clock.ts'
import { type Answer, done, refused } from './operation.ts'

const SECRET = /^whsec_[A-Za-z0-9+/]{16,172}={0,2}$/

export const isWebhookSecret = (text: string): boolean => SECRET.test(text)

export async function checkHandler(
  options: Omit<Options, 'clock' | 'patience'>,
): Promise<Answer<{ url: string; checks: CheckResult[] }>> {
  const { url, secret, only = [], open, tillPort } = options
  if (!isWebhookSecret(secret)) return refused('usage', 'The secret must be whsec_ followed by base64.')
  const known = CHECKS.map(({ name }) => name)
  if (only.some((name) => !known.includes(name))) {
    return refused('usage', `--only must be one of ${known.join(', ')}.`)
  }
  if (open !== undefined && tillPort === undefined) {
    return refused('usage', '--open needs --till: the store opens its deposits there.')
  }
  const leftOut = CHECKS.filter(({ inventedOrdersOnly }) => inventedOrdersOnly).map(({ name }) => name)
  if (open !== undefined && only.length > 0 && only.every((name) => leftOut.includes(name))) {
    return refused('usage', `--open leaves out ${leftOut.join(', ')}, so no check would run.`)
  }
  // Signs with the machine's time, because the handler checks the age of signatures by its own clock.
  const verified = await verifyHandler({ ...options, clock: systemClock })
  switch (verified.kind) {
    case 'unreachable':
      return refused('unreachable', verified.reason)
    case 'unreadable':
    case 'no_port':
      return refused('usage', verified.reason)
    case 'checked':
      return reportOf(url, verified.results)
    default:
      return verified satisfies never
  }
}

function reportOf(url: URL, checks: CheckResult[]): Answer<{ url: string; checks: CheckResult[] }> {
  const data = { url: url.href, checks }
  const count = (result: CheckResult['result']) => checks.filter((each) => each.result === result).length
  const [failed, incomplete] = [count('failed'), count('incomplete')]
  if (failed > 0) {
    const message = `${failed} of ${checks.length} checks failed.`
    return { kind: 'refused', refusal: 'failed', message, data }
  }
  if (incomplete > 0) {
    const message = `No check failed, but ${incomplete} of ${checks.length} could not be completed.`
    return { kind: 'refused', refusal: 'conflict', message, data }
  }
  return done(data)
}
