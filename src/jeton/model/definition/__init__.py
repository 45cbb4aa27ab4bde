"""What people define: workflows, flows, tasks, triggers, model profiles."""
