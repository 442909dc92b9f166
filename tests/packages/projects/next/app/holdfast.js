import { createHoldfast } from "holdfast";

export const holdfast = createHoldfast({
  account: () => "local",
  services: { reports: { profile: "runharvester", proxy: "/api/reports" } },
});
