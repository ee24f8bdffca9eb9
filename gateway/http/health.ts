/** Reports the version of this process, and whether it reaches its database. */
import type { FastifyInstance } from 'fastify'
import { DOCTOR_HEADER } from '../kit/doctor-proof.ts'

type HealthOptions = {
  healthy(): Promise<boolean>
  isTrustedProxy(address: string): boolean
  /** The version that runs here. */
  build?: Record<string, string>
  /** True if the call comes from the doctor, which may see how the gateway identifies its caller. */
  isDoctor?(proof: unknown): boolean
}

export function answerHealth(app: FastifyInstance, options: HealthOptions): void {
  const { healthy, isTrustedProxy, build, isDoctor } = options
  app.get('/healthz', async ({ headers, ip: address, protocol }, reply) => {
    const isHealthy = await healthy()
    const status = isHealthy ? 'ok' : 'database out of reach'
    const isDoctorCall = isDoctor?.(headers[DOCTOR_HEADER]) === true
    const details = isDoctorCall ? { caller: { address, protocol, isProxy: isTrustedProxy(address) } } : {}
    return reply.code(isHealthy ? 200 : 503).send({ status, ...build, ...details })
  })
}

/** Returns a function that runs the check at most once a second. All callers share the last answer. */
export function onceASecond(check: () => Promise<boolean>, nowMs: () => number): () => Promise<boolean> {
  let checkedMs = Number.NEGATIVE_INFINITY
  let answer: Promise<boolean> | undefined
  return () => {
    const now = nowMs()
    if (answer !== undefined && now - checkedMs < 1_000) return answer
    checkedMs = now
    answer = check()
    return answer
  }
}
