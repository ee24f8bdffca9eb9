import type { Config } from './config.ts'
import type { PageFacts } from './http/page.ts'

/**
 * Settings that the shopper's page shows, as attributes of its root element. `steam`: where a sandbox's links to Steam
 * lead.
 */
export const pageFacts = (config: Config, communityUrl: string): PageFacts => ({
  'demo-store': config.demoStoreUrl,
  'support-email': config.supportEmail,
  'messenger-url': config.messengerUrl,
  'guide-video': config.guideVideoUrl,
  home: config.homeUrl,
  steam: config.mode === 'sandbox' ? communityUrl : undefined,
})
