/** Whether a load balancer should send calls here. Unlike /healthz, which says whether this process works. */
import type { FastifyInstance } from 'fastify'

/** How far the process has come. It changes while the process starts and stops. */
export type Progress = { state: 'starting' | 'ready' | 'draining' }

const READY: Progress = { state: 'ready' }

export type ReadinessOptions = { progress?: Progress; healthy(): Promise<boolean> }

export function answerReadiness(app: FastifyInstance, { progress = READY, healthy }: ReadinessOptions): void {
  app.get('/readyz', async (_request, reply) => {
    const status = progress.state === 'ready' && !(await healthy()) ? 'database out of reach' : progress.state
    return reply.code(status === 'ready' ? 200 : 503).send({ status })
  })
}
