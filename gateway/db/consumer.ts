/** Takes jobs of one queue only while places are free, so no job is taken just to wait. */

export type Consumer = {
  /** Signals that jobs may be waiting. */
  wake(): void
  /** Stops taking jobs, and resolves once the running ones have ended. */
  stop(): Promise<void>
}

type ConsumerDeps<JOB> = {
  /** The most jobs that run at the same time. */
  places: number
  /** Takes up to `most` waiting jobs; fewer only if no more are waiting. */
  take(most: number): Promise<readonly JOB[]>
  /** Runs a job and settles it. Never rejects. */
  run(job: JOB): Promise<void>
  onError(error: unknown): void
}

export function createConsumer<JOB>({ places, take, run, onError }: ConsumerDeps<JOB>): Consumer {
  const running = new Set<Promise<void>>()
  let mayHaveJobs = false
  let isStopped = false
  let filling: Promise<void> | undefined

  const canTake = () => mayHaveJobs && !isStopped && running.size < places
  const start = (job: JOB) => {
    const work = run(job).finally(() => {
      running.delete(work)
      fill()
    })
    running.add(work)
  }
  const takeAll = async () => {
    while (canTake()) {
      mayHaveJobs = false
      const most = places - running.size
      const jobs = await take(most)
      if (jobs.length >= most) mayHaveJobs = true
      for (const job of jobs) start(job)
    }
  }
  const fill = () => {
    if (filling !== undefined || !canTake()) return
    filling = takeAll()
      .catch(onError)
      .finally(() => {
        filling = undefined
        // A wake-up may have come after the last check.
        fill()
      })
  }
  return {
    wake() {
      mayHaveJobs = true
      fill()
    },
    async stop() {
      isStopped = true
      await filling
      await Promise.all(running)
    },
  }
}
