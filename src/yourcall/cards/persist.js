/** @import { Patience } from "./wire.d.ts" */

/**
 * Do `attempt` until it succeeds, waiting longer after each failure; a refusal that time does not mend is thrown.
 * An error is such a refusal if its `transient` is false.
 *
 * @param {() => Promise<void>} attempt @param {Patience} [options]
 */
export async function persist(attempt, { signal, onCut } = {}) {
  for (let failures = 1; ; failures++) {
    const began = Date.now();
    try {
      return await attempt();
    } catch (error) {
      if (signal?.aborted || /** @type {any} */ (error)?.transient === false) throw error;
      if (Date.now() - began > 5_000) failures = 1; // it had worked for a while
      // half of it is chance, so that a thousand pages do not come back in the same second
      const pause = Math.min(10_000, 250 * 2 ** failures) * (0.5 + Math.random() / 2);
      await new Promise((retry) => {
        setTimeout(retry, pause);
        signal?.addEventListener("abort", retry, { once: true });
        onCut?.(retry);
      });
    }
  }
}
